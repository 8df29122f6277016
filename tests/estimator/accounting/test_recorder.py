"""What Karmada asks reaches the ledger behind the reply: bounded, charging nobody, and without failing the caller."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from estimator.accounting.admission.sightings import Recorder, Sighting
from estimator.accounting.demand import WorkloadKey
from estimator.accounting.ledger.ledger import Ledger
from estimator.accounting.sources.quota_files import FileQuotas, GivenQuotas
from estimator.quotas.amounts import texts
from estimator.quotas.objects import Quota
from interpreters.core.errors import InputError
from tests.estimator.accounting.samples import book, demand, federated, limit, one

JOB = WorkloadKey("x.io", "Job", "team-a", "job")


def sighting(name: str = "job", cpu: str = "1", **about: Any) -> Sighting:
    return Sighting(JOB._replace(name=name), one(cpu), **about)


@asynccontextmanager
async def recording(ledger: Ledger, *quotas: Quota, **options: Any) -> AsyncIterator[Recorder]:
    recorder = Recorder(ledger, GivenQuotas(quotas), **options)
    task = asyncio.create_task(recorder.serve())
    try:
        yield recorder
    finally:
        task.cancel()


async def unadmitted(ledger: Ledger) -> dict[str, str]:
    async with ledger.page("team-a", read_only=True) as page:
        return {stranger.workload.name: texts(stranger.amounts)["cpu"] for stranger in await page.unadmitted()}


async def test_sightings_reach_the_ledger_and_charge_nobody(ledger: Ledger) -> None:
    await book(ledger, JOB._replace(name="b"), demand(("main", 1, {"cpu": "3000m"})))
    async with recording(ledger) as recorder:
        assert recorder.offer(sighting("a", "2"))
        assert recorder.offer(sighting("b", "3"))
        assert await recorder.drain(10)
    assert texts(await ledger.used("team-a"))["cpu"] == "3"
    assert await unadmitted(ledger) == {"a": "2"}
    assert (recorder.counts.recorded, recorder.counts.unadmitted) == (2, 1)


async def test_the_newest_sighting_replaces_an_older_one_in_line(ledger: Ledger) -> None:
    recorder = Recorder(ledger, GivenQuotas())
    for cpu in ("1", "2", "3"):
        assert recorder.offer(sighting(cpu=cpu))
    assert len(recorder) == 1
    task = asyncio.create_task(recorder.serve())
    assert await recorder.drain(10)
    task.cancel()
    assert await unadmitted(ledger) == {"job": "3"}


async def test_a_full_line_sheds_and_says_so(ledger: Ledger) -> None:
    recorder = Recorder(ledger, GivenQuotas(), capacity=2)
    assert [recorder.offer(sighting(name)) for name in ("a", "b", "c", "a")] == [True, True, False, True]
    assert recorder.counts.shed == 1


async def test_off_takes_nothing(ledger: Ledger) -> None:
    recorder = Recorder(ledger, GivenQuotas(), mode="off")
    assert not recorder.offer(sighting())
    assert (len(recorder), recorder.counts.shed) == (0, 0)


async def test_warn_compares_with_quotas_and_asks_the_estimator(ledger: Ledger) -> None:
    heard: list[str] = []
    options: dict[str, Any] = {
        "mode": "warn",
        "validate": lambda seen: [f"no cluster fits {seen.workload.name}"],
        "on_warning": lambda seen, text: heard.append(text),
    }
    async with recording(ledger, limit({"cpu": "2"}), **options) as recorder:
        recorder.offer(sighting(cpu="3"))
        assert await recorder.drain(10)
    assert heard == [
        "FederatedResourceQuota team-a/compute: cpu: used 0, asked 3, limit 2, 1 too much; "
        "component main weighs most (3)",
        "no cluster fits job",
    ]
    assert await unadmitted(ledger) == {"job": "3"}, "a warning does not keep it from being recorded"


async def test_what_cannot_be_recorded_is_counted_and_the_next_is_taken(ledger: Ledger) -> None:
    async with recording(ledger) as recorder:
        recorder.offer(sighting("bad", "many"))
        recorder.offer(sighting("good", "1"))
        assert await recorder.drain(10)
    assert (recorder.counts.failed, recorder.counts.recorded) == (1, 1)


async def test_quota_files_are_read_again_on_demand_and_kept_when_they_break(tmp_path: Path) -> None:
    file = tmp_path / "quota.json"
    source = FileQuotas([tmp_path])

    async def limits() -> list[dict[str, str]]:
        return [texts(found.limits) for found in await source.of_namespace("team-a")]

    file.write_text(json.dumps(federated({"cpu": "1"})))
    assert await source.load() == "1 quota"
    assert await limits() == [{"cpu": "1"}]
    assert await source.of_namespace("team-b") == []
    file.write_text(json.dumps(federated({"cpu": "20"})))
    await source.load()
    assert await limits() == [{"cpu": "20"}]
    file.write_text('{"kind": "FederatedResourceQuota"')
    with pytest.raises(InputError):
        await source.load()
    assert await limits() == [{"cpu": "20"}]


async def test_a_mounted_folder_is_read_through_its_links_and_once(tmp_path: Path) -> None:
    """A ConfigMap volume holds its files in a hidden folder, and links to them beside it."""
    (tmp_path / "..now").mkdir()
    (tmp_path / "..now/quota.json").write_text(json.dumps(federated({"cpu": "1"})))
    (tmp_path / "..data").symlink_to("..now")
    (tmp_path / "quota.json").symlink_to("..data/quota.json")
    source = FileQuotas([tmp_path])
    assert await source.load() == "1 quota"
