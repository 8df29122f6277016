"""A ledger that version 2 of the schema wrote, with a slash in names and sums beyond 64 bits, is read on."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import asyncpg
import pytest
import sqlalchemy as sa

from estimator.accounting.admission.decide import Gate, Interpretation
from estimator.accounting.demand import WorkloadKey
from estimator.accounting.ledger.ledger import Ledger
from estimator.accounting.ledger.migration import NEWEST
from estimator.accounting.ledger.schema import running_sums, schema_version
from estimator.accounting.ledger.sums import SumKey
from estimator.accounting.sources.quota_files import GivenQuotas
from estimator.quotas.amounts import texts
from interpreters.core.errors import InputError
from interpreters.core.quantity import NANO
from tests.estimator.accounting.conftest import Clock
from tests.estimator.accounting.samples import book, demand, limit, one, request
from tests.interp.command import interp

OLD = (Path(__file__).parent / "ledger_version_2.sql").read_text()
"""Written by the release before running sums, on SQLite."""

CHARGED = [  # namespace, cpu, everything else that is charged
    ("team-a", "22", {"memory": "4Gi", "pods": "8", "count/flinkdeployments.flink.apache.org": "4",
                      "count/fleets.x.io": "1"}),
    ("team-b", "2", {"pods": "2", "x.io/huge": "18E", "count/deployments.apps": "2"}),
    ("", "1", {"pods": "1", "count/pods": "1"}),
]  # fmt: skip


def without_sightings(script: str) -> str:
    """The same ledger as the first version of the schema would have it."""
    lines = [line for line in script.splitlines() if 'INTO "sightings"' not in line and "ON sightings" not in line]
    start = next(number for number, line in enumerate(lines) if line.startswith("CREATE TABLE sightings"))
    end = lines.index(");", start)
    return "\n".join([*lines[:start], *lines[end + 1 :]]).replace(
        '"schema_version" VALUES(2)', '"schema_version" VALUES(1)'
    )


async def restore(url: str, script: str) -> None:
    if url.startswith("sqlite:///"):
        with sqlite3.connect(url.removeprefix("sqlite:///")) as connection:
            connection.executescript(script)
        return
    for written, meant in (
        ("BEGIN TRANSACTION;", ""), ("COMMIT;", ""), (" DOUBLE", " DOUBLE PRECISION"), ("id INTEGER", "id BIGSERIAL"),
        ("allowed BOOLEAN", "allowed INTEGER"),
    ):  # fmt: skip
        script = script.replace(written, meant)
    connection = await asyncpg.connect(url)
    await connection.execute(script)
    await connection.execute("ALTER TABLE decisions ALTER allowed TYPE BOOLEAN USING allowed = 1")
    await connection.close()


@pytest.mark.parametrize("version", [1, 2])
async def test_every_charge_decision_and_sighting_is_there_afterwards(
    ledger_url: str, clock: Clock, version: int
) -> None:
    await restore(ledger_url, OLD if version == 2 else without_sightings(OLD))
    async with Ledger(ledger_url, clock=clock) as ledger:
        for namespace, cpu, others in CHARGED:
            assert texts(await ledger.used(namespace)) == {"cpu": cpu, **others}
            async with ledger.page(namespace) as page:
                assert texts(await page.used()) == {"cpu": cpu, **others}
        owners = {charge.workload.name: charge.owner and charge.owner.name async for charge in ledger.charges("team-a")}
        assert owners == {"scheduled": None, "promised": None, "with/slash": None, "child": "par/ent", "par/ent": None}
        decided = [(line.workload.name, line.allowed) async for line in ledger.decisions()]
        assert decided == [("child", True), ("with/slash", True), ("too-big", False), ("promised", True),
                           ("scheduled", True), ("scheduled", True)]  # fmt: skip
        async with ledger.page("team-a", read_only=True) as page:
            seen = [stranger.workload.name for stranger in await page.unadmitted()]
        assert seen == (["seen/only"] if version == 2 else [])
        gate = Gate(ledger, GivenQuotas([limit({"cpu": "30"})]))
        assert not (await gate.decide(request(name="nine"), Interpretation(one("9")))).allowed
        assert (await gate.decide(request(name="eight"), Interpretation(one("8")))).allowed
        clock.now += 601
        assert texts(await ledger.used("team-a"))["cpu"] == "10", "what was only promised has lapsed"
        async with ledger.database.reading() as connection:
            assert (await connection.execute(sa.select(schema_version.c.version))).all() == [(NEWEST,)]
    async with Ledger(ledger_url, clock=clock) as ledger:
        assert texts(await ledger.used("team-b"))["x.io/huge"] == "18E", "the second opening changes nothing"


async def test_sums_of_version_4_learn_of_best_effort(ledger_url: str, clock: Clock) -> None:
    async with Ledger(ledger_url, clock=clock) as ledger:
        await book(ledger, WorkloadKey("x.io", "Job", "team-a", "job"), demand(("a", 2, {"cpu": "1"}), ("b", 3, {})))
        async with ledger.page("team-a") as page:
            wanted = await page.all_sums()
        assert SumKey("best-effort", "", "pods") in wanted
        async with ledger.database.charging() as connection:  # as version 4 kept them: all pods by priority class
            await connection.execute(sa.text("DELETE FROM running_sums WHERE dimension = 'best-effort'"))
            await connection.execute(sa.update(running_sums).where(running_sums.c.dimension == "priority")
                                     .where(running_sums.c.resource == "pods").values(charged=5 * NANO))  # fmt: skip
            await connection.execute(sa.update(schema_version).values(version=4))
    async with Ledger(ledger_url, clock=clock) as ledger, ledger.page("team-a") as page:
        assert await page.all_sums() == wanted


async def test_the_verbs_read_it(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'ledger.db'}"
    await restore(url, OLD)
    assert "Fleet.x.io team-a/par/ent: cpu 6" in interp("ledger", "show", url).out
    assert len(interp("ledger", "export", url, "--what", "decisions").out.splitlines()) == 6
    assert interp("audit", "--ledger", url).code == 0


READERS = [("ledger", "show"), ("ledger", "history"), ("ledger", "export"), ("audit", "--ledger")]


@pytest.mark.parametrize("verb", READERS, ids=" ".join)
def test_who_only_reads_makes_no_ledger_of_another_file(verb: tuple[str, ...], tmp_path: Path) -> None:
    empty, other = tmp_path / "empty.db", tmp_path / "other.db"
    empty.touch()
    with sqlite3.connect(other) as database:
        database.execute("CREATE TABLE people (name TEXT)")
    for file, said in ((empty, "holds no ledger; a server or"), (other, "but tables of something else: people")):
        before = file.read_bytes()
        ran = interp(*verb, file)
        assert (ran.code, said in ran.err, file.read_bytes()) == (2, True, before), ran


def test_a_server_or_a_reconcile_leaves_somebody_elses_file_alone(tmp_path: Path) -> None:
    other, bindings = tmp_path / "other.db", Path(__file__).parents[3] / "docs" / "examples" / "quota" / "bindings.yaml"
    with sqlite3.connect(other) as database:
        database.execute("CREATE TABLE charges (name TEXT)")
    before = other.read_bytes()
    ran = interp("ledger", "reconcile", other, "--bindings", bindings)
    assert (ran.code, "tables of something else: charges" in ran.err, other.read_bytes()) == (2, True, before), ran


async def test_nor_is_a_table_of_the_same_name_in_postgresql_taken_for_ours(postgres_url: str) -> None:
    async with Ledger(postgres_url) as ledger, ledger.database.charging() as connection:
        await connection.execute(sa.text("DROP TABLE schema_version"))
    with pytest.raises(InputError, match="tables of something else: charges, decisions"):
        async with Ledger(postgres_url):
            pass
