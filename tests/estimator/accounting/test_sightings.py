"""What a question about a workload does to the ledger: it confirms what was admitted, charges nobody, frees nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from estimator.accounting.admission.decide import Gate, Interpretation
from estimator.accounting.demand import Demand, WorkloadKey
from estimator.accounting.ledger import ledger as ledger_module
from estimator.accounting.ledger.ledger import Ledger
from estimator.accounting.ledger.report import export_lines, read_statement, render_statement
from estimator.accounting.sources.quota_files import GivenQuotas
from estimator.quotas.amounts import texts
from interpreters.core.errors import QuantityError
from tests.estimator.accounting.conftest import Clock
from tests.estimator.accounting.samples import book, demand, limit, one, request
from tests.interp.command import interp

JOB = request().workload


def cpus(amount: str, replicas: int = 1) -> Demand:
    return demand(("main", replicas, {"cpu": amount}))


async def used(ledger: Ledger) -> str:
    return texts(await ledger.used("team-a")).get("cpu", "0")


async def admit(ledger: Ledger, cpu: str, old: str = "", **metadata: Any) -> None:
    gate = Gate(ledger, GivenQuotas([limit({"cpu": "100"})]))
    said = Interpretation(one(cpu), one(old) if old else None)
    obj = {"metadata": {"name": JOB.name, "namespace": JOB.namespace, **metadata}}
    asked = request("UPDATE" if old else "CREATE", obj=obj)
    assert (await gate.decide(asked, said)).allowed


async def sight(ledger: Ledger, seen: Demand, workload: WorkloadKey = JOB, uid: str = "", generation: int = 0) -> bool:
    async with ledger.page(workload.namespace) as page:
        return await page.sight(workload, seen, uid=uid, generation=generation)


async def unadmitted(ledger: Ledger) -> list[tuple[str, str]]:
    """What is not admitted as it was seen, and what is charged instead."""
    async with ledger.page("team-a", read_only=True) as page:
        return [
            (texts(found.amounts)["cpu"], "-" if found.charged is None else texts(found.charged)["cpu"])
            for found in await page.unadmitted()
        ]


CONFIRMING = [  # what is seen, its uid, its generation, whether the charge of 5 outlives its time
    ("5", "u-1", 1, True),
    ("5", "u-1", 2, True),
    ("5000m", "u-1", 1, True),
    ("9", "u-1", 2, True),  # it is there; that it has grown since is not for a question to say
    ("5", "u-2", 1, False),
    ("5", "", 1, False),
]


@pytest.mark.parametrize(("cpu", "uid", "generation", "kept"), CONFIRMING)
async def test_a_question_about_what_was_admitted_confirms_it(
    ledger: Ledger, clock: Clock, cpu: str, uid: str, generation: int, kept: bool
) -> None:
    await admit(ledger, "5", uid="u-1", generation=1)
    await sight(ledger, cpus(cpu), uid=uid, generation=generation)
    assert await used(ledger) == "5"
    clock.now += 601
    assert await used(ledger) == ("5" if kept else "0")


async def test_a_charge_without_a_uid_is_confirmed_by_the_same_pods_only(ledger: Ledger, clock: Clock) -> None:
    await admit(ledger, "5")
    assert not await sight(ledger, cpus("4"), uid="u-1")
    clock.now += 601
    assert await used(ledger) == "0"
    await admit(ledger, "5")
    assert await sight(ledger, cpus("5"), uid="u-1")
    clock.now += 601
    assert await used(ledger) == "5"


async def test_nobody_is_charged_by_a_question(ledger: Ledger) -> None:
    for number in range(3):
        assert not await sight(ledger, cpus("50"), JOB._replace(name=f"made-up-{number}"), uid="u")
    assert await ledger.used("team-a") == {}
    await admit(ledger, "99")
    assert await unadmitted(ledger) == [("50", "-")] * 3


async def test_nothing_is_freed_by_a_question(ledger: Ledger, clock: Clock) -> None:
    await book(ledger, JOB, cpus("9"))
    assert not await sight(ledger, cpus("1"), uid="u")
    assert (await used(ledger), await unadmitted(ledger)) == ("9", [("1", "9")])
    await admit(ledger, "2", "9", uid="u", generation=2)
    await sight(ledger, cpus("2"), uid="u", generation=2)
    assert await used(ledger) == "9", "another webhook may have refused the update; its binding will tell"
    clock.now += 601
    assert await used(ledger) == "9"
    await book(ledger, JOB, cpus("2"))
    assert await used(ledger) == "2"


async def test_what_is_admitted_bound_or_deleted_later_is_not_listed_any_more(ledger: Ledger, clock: Clock) -> None:
    await sight(ledger, cpus("5"), uid="u")
    assert await unadmitted(ledger) == [("5", "-")]
    clock.now += 1
    await book(ledger, JOB, cpus("4"))
    assert await unadmitted(ledger) == [], "the charge is newer"
    clock.now += 1
    await sight(ledger, cpus("5"), uid="u")
    assert await unadmitted(ledger) == [("5", "4")]
    await Gate(ledger, GivenQuotas()).decide(request("DELETE"), Interpretation())
    assert await unadmitted(ledger) == []
    assert await ledger.namespaces() == []


async def test_an_amount_that_is_none_is_not_noted(ledger: Ledger) -> None:
    with pytest.raises(QuantityError):
        await sight(ledger, cpus("many"), uid="u")
    assert await unadmitted(ledger) == []


async def test_sightings_are_bounded_in_age_and_number(
    ledger: Ledger, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_module, "_MOST_SIGHTINGS", 2)
    for number in range(5):
        clock.now += 1
        await sight(ledger, cpus(str(number)), JOB._replace(name=f"n-{number}"), uid="u")
    await ledger.prune()
    assert [cpu for cpu, _ in await unadmitted(ledger)] == ["3", "4"]
    clock.now += ledger.retention_seconds + 1
    await ledger.prune()
    assert await unadmitted(ledger) == []


async def test_the_statement_the_export_and_the_audit_show_them_apart_from_charges(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'ledger.db'}"
    async with Ledger(url) as ledger:
        await book(ledger, JOB, cpus("4"))
        await sight(ledger, cpus("6"), uid="u")
        await sight(ledger, cpus("5"), JOB._replace(name="new"), uid="u")
        shown = render_statement(await read_statement(ledger, namespace=None, decisions=0))
        assert shown.splitlines() == [
            "team-a: charged cpu 4, pods 1",
            "  FlinkDeployment.flink.apache.org team-a/job: cpu 4, pods 1 (confirmed)",
            "  FlinkDeployment.flink.apache.org team-a/job: cpu 6, pods 1 (not admitted, charged cpu 4, pods 1)",
            "  FlinkDeployment.flink.apache.org team-a/new: cpu 5, pods 1 (not admitted, charged nothing)",
        ]
        assert len([line async for line in export_lines(ledger, "unadmitted", None)]) == 2
    assert len(interp("ledger", "export", url, "--what", "unadmitted", "-o", "csv").out.splitlines()) == 3
    report = json.loads(interp("audit", "--ledger", url, "-o", "json").out)
    assert report["namespaces"][0]["used"]["cpu"] == "4"
    found = [(item["object"], item["evidence"]) for item in report["findings"] if item["code"] == "not-admitted"]
    assert found == [
        ("FlinkDeployment.flink.apache.org team-a/job", "Karmada asked about cpu 6, pods 1; charged is cpu 4, pods 1"),
        ("FlinkDeployment.flink.apache.org team-a/new", "Karmada asked about cpu 5, pods 1; charged is nothing"),
    ]
