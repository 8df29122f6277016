"""Servers whose own clocks are wrong agree on what has expired: the database's clock decides."""

from __future__ import annotations

import time

import pytest

from estimator.accounting.admission.decide import Gate, Interpretation
from estimator.accounting.ledger.ledger import Ledger
from estimator.accounting.sources.quota_files import GivenQuotas
from estimator.quotas.amounts import texts
from tests.estimator.accounting.samples import limit, one, request


@pytest.mark.parametrize("skew", [-900.0, 900.0])
async def test_a_server_that_is_a_quarter_of_an_hour_off_admits_no_more(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, skew: float
) -> None:
    """A charge lapses after ten minutes, so by its own clock the second server would find nothing charged."""
    right = time.time
    async with Ledger(postgres_url) as here, Ledger(postgres_url) as there:
        verdicts = []
        for number, ledger in enumerate((here, there) * 6):
            monkeypatch.setattr(time, "time", (lambda: right() + skew) if ledger is there else right)
            gate = Gate(ledger, GivenQuotas([limit({"cpu": "6"})]))
            verdicts.append((await gate.decide(request(name=f"job-{number}"), Interpretation(one("1")))).allowed)
        assert verdicts == [True] * 6 + [False] * 6
        assert texts(await there.used("team-a"))["cpu"] == "6"
        charges = [charge async for charge in here.charges("team-a")]
        assert len({round(charge.expires_at or 0, -2) for charge in charges}) <= 2, "all lapse at about the same time"


async def test_the_clock_of_either_database_is_that_of_this_machine(ledger_url: str) -> None:
    async with Ledger(ledger_url) as ledger:
        assert abs(await ledger.now() - time.time()) < 60
