"""The ledger keeps state per object, forgets on time, mends itself from bindings, and grows with its schema."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from estimator.accounting.demand import Binding, WorkloadKey, binding_decoder
from estimator.accounting.ledger.charges import Charge
from estimator.accounting.ledger.database import LedgerError, database_url
from estimator.accounting.ledger.ledger import Ledger
from estimator.accounting.ledger.migration import NEWEST
from estimator.accounting.ledger.report import csv_header, csv_row, export_lines, read_statement, render_statement
from estimator.accounting.ledger.rows import Decision
from estimator.accounting.ledger.schema import running_sums, schema_version
from estimator.accounting.reconcile import Reconciliation
from estimator.quotas.amounts import texts
from interpreters.core.errors import InputError
from tests.estimator.accounting.conftest import Clock
from tests.estimator.accounting.samples import binding, book, demand

JOB = WorkloadKey("flink.apache.org", "FlinkDeployment", "team-a", "job")


def a_binding(name: str, cpu: str, clusters: tuple[str, ...] = ("m1",), namespace: str = "team-a") -> Binding:
    wire = [{"name": "main", "replicas": 1, "replicaRequirements": {"resourceRequest": {"cpu": cpu}}}]
    return binding_decoder.decode(json.dumps(binding(name, namespace, components=wire, clusters=clusters)))


async def corrections(run: Reconciliation, *bindings: Binding, complete: bool = False) -> list[str]:
    found = [*await run.take(bindings), *await run.finish(complete=complete)]
    return [f"{one.what} {one.workload.namespace}/{one.workload.name}" for one in found]


async def test_reconcile_adds_changes_and_removes_and_a_second_run_finds_nothing(ledger: Ledger, clock: Clock) -> None:
    await book(ledger, JOB, demand(("main", 1, {"cpu": "7"})))
    await book(ledger, JOB._replace(name="gone"), demand(("main", 1, {"cpu": "1"})))
    clock.now += 10
    truth = (a_binding("job", "2", ("m1", "m2")), a_binding("new", "1"))
    run = Reconciliation(ledger, as_of=clock.now)
    assert await corrections(run, *truth) == ["changed team-a/job", "added team-a/new", "removed team-a/gone"]
    assert texts(await ledger.used("team-a"))["cpu"] == "5"
    recorded = [(line.operation, line.message) async for line in ledger.decisions()]
    assert ("RECONCILE", "changed: cpu 7 → 4, pods 1 → 2") in recorded
    assert len(recorded) == 3
    clock.now += 10
    assert await corrections(Reconciliation(ledger, as_of=clock.now), *truth) == []


async def test_a_dry_run_of_reconcile_only_tells(ledger: Ledger, clock: Clock) -> None:
    run = Reconciliation(ledger, as_of=clock.now, dry_run=True)
    assert await corrections(run, a_binding("job", "2")) == ["added team-a/job"]
    assert await ledger.used("team-a") == {}


@pytest.mark.parametrize("as_of", [None, -50.0, 0.0, 50.0])
async def test_a_dry_run_announces_exactly_what_the_real_run_does(
    ledger: Ledger, clock: Clock, as_of: float | None
) -> None:
    """Also where a charge is newer than the truth, promised, or in a namespace that the truth does not name."""
    await book(ledger, JOB._replace(name="gone"), demand(("main", 1, {"cpu": "1"})))
    await book(ledger, JOB._replace(namespace="team-b"), demand(("main", 1, {"cpu": "1"})))
    clock.now += 100
    await book(ledger, JOB, demand(("main", 1, {"cpu": "7"})))
    await book(ledger, JOB._replace(name="newcomer"), demand(("main", 1, {"cpu": "1"})))
    async with ledger.page("team-a") as page:
        promised = Charge(JOB._replace(name="promised"), provisional=demand(("main", 1, {"cpu": "1"})))
        await page.save(replace(promised, expires_at=clock.now + 600))
    truth = (a_binding("job", "2", ("m1", "m2")), a_binding("new", "1"))
    taken = None if as_of is None else clock.now + as_of
    announced, done = [
        await corrections(Reconciliation(ledger, as_of=taken, dry_run=dry_run), *truth, complete=True)
        for dry_run in (True, False)
    ]
    assert announced == done
    assert done, "there is something to correct"


async def test_what_the_ledger_learned_after_the_truth_was_taken_stays(ledger: Ledger, clock: Clock) -> None:
    taken = clock.now
    clock.now += 5
    await book(ledger, JOB, demand(("main", 1, {"cpu": "7"})))
    await book(ledger, JOB._replace(name="newcomer"), demand(("main", 1, {"cpu": "1"})))
    run = Reconciliation(ledger, as_of=taken)
    assert await corrections(run, a_binding("job", "2")) == []
    assert run.newer == 2


@pytest.mark.parametrize(("complete", "removed"), [(False, []), (True, ["removed team-b/other"])])
async def test_namespaces_that_the_truth_does_not_name_are_emptied_only_if_it_is_complete(
    ledger: Ledger, clock: Clock, complete: bool, removed: list[str]
) -> None:
    await book(ledger, WorkloadKey("", "Pod", "team-b", "other"), demand(("main", 1, {"cpu": "1"})))
    clock.now += 1
    await book(ledger, JOB, a_binding("job", "2").spec.plain)
    clock.now += 1
    run = Reconciliation(ledger, as_of=clock.now)
    assert await corrections(run, a_binding("job", "2"), complete=complete) == removed


async def test_a_binding_that_cannot_be_read_is_reported_and_the_others_are_reconciled(
    ledger: Ledger, clock: Clock
) -> None:
    run = Reconciliation(ledger, as_of=clock.now)
    found = await corrections(run, a_binding("bad", "many"), a_binding("good", "1"))
    assert found == ["added team-a/good", "unreadable team-a/bad"]


async def test_decisions_older_than_the_retention_are_forgotten(ledger: Ledger, clock: Clock) -> None:
    async def decide(uid: str) -> None:
        async with ledger.page("team-a") as page:
            page.record(Decision("CREATE", JOB, True, request=uid))

    await decide("old")
    clock.now += ledger.retention_seconds + 1
    await decide("new")
    assert await ledger.prune() == 1
    assert [line.request async for line in ledger.decisions()] == ["new"]


async def test_very_many_charges_expire_at_once(ledger: Ledger, clock: Clock) -> None:
    promised = demand(("main", 1, {"cpu": "1"}))
    async with ledger.page("team-a") as page:
        await page.save(
            *(
                Charge(JOB._replace(name=f"job-{i}"), provisional=promised, expires_at=clock.now + 1)
                for i in range(5001)
            )
        )
        assert texts(await page.used())["cpu"] == "5001"
    clock.now += 2
    async with ledger.page("team-a") as page:
        assert await page.used() == {}
    assert await ledger.namespaces() == []


async def test_sums_are_exact_where_64_bits_are_not_enough(ledger: Ledger) -> None:
    for i in range(20):
        await book(ledger, JOB._replace(name=f"job-{i}"), demand(("main", 1, {"memory": "8Ei", "cpu": "1n"})))
    async with ledger.page("team-a") as page:
        assert texts(await page.used()) == {
            "count/flinkdeployments.flink.apache.org": "20",
            "cpu": "20n",
            "memory": str((2**63 - 1) * 20),
            "pods": "20",
        }


async def test_a_statement_lists_charges_with_their_state(ledger: Ledger) -> None:
    await book(ledger, JOB, a_binding("job", "2", ("m1", "m2")).spec.plain)
    statement = await read_statement(ledger, namespace=None, decisions=5)
    charge = statement.namespaces[0].charges[0]
    assert (charge.state, charge.clusters, charge.amounts["cpu"]) == ("confirmed", ["m1", "m2"], "4")
    assert "FlinkDeployment.flink.apache.org team-a/job in m1, m2: cpu 4, pods 2 (confirmed)" in render_statement(
        statement
    )
    rows = [csv_row(line) async for line in export_lines(ledger, "charges", None)]
    assert len(rows) == 1
    assert csv_header("charges").startswith("workload,namespace,amounts,")


async def test_an_error_inside_a_page_leaves_no_half_charge(ledger: Ledger) -> None:
    with pytest.raises(ZeroDivisionError):
        async with ledger.page("team-a") as page:
            await page.save(Charge(JOB, confirmed=demand(("main", 1, {"cpu": "1"}))))
            raise ZeroDivisionError
    assert await ledger.used("team-a") == {}
    async with ledger.database.reading() as connection:
        assert (await connection.execute(sa.select(running_sums))).all() == []


async def test_opening_twice_migrates_once_and_a_newer_schema_is_refused(ledger_url: str) -> None:
    async with Ledger(ledger_url), Ledger(ledger_url) as ledger, ledger.database.charging() as connection:
        assert (await connection.execute(sa.select(schema_version.c.version))).all() == [(NEWEST,)]
        await connection.execute(sa.update(schema_version).values(version=99))
    with pytest.raises(InputError, match="schema version 99, this release knows"):
        await Ledger(ledger_url).__aenter__()


@pytest.mark.parametrize(
    ("text", "driver"),
    [("ledger.db", "sqlite+aiosqlite"), ("sqlite:////var/ledger.db", "sqlite+aiosqlite"),
     ("postgresql://u:p@h/db", "postgresql+asyncpg"), ("postgres://h/db", "postgresql+asyncpg")],
)  # fmt: skip
def test_a_ledger_is_a_file_or_a_url(text: str, driver: str) -> None:
    assert database_url(text).drivername == driver


@pytest.mark.parametrize("text", ["mysql://h/db", "postgresql://[::1", "sqlite://", ":memory:"])
def test_other_databases_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="ledger:"):
        database_url(text)


async def test_an_unreachable_ledger_is_named_without_its_password(tmp_path: Path) -> None:
    secret = f"postgresql://user:hunter2@/db?host={tmp_path}"
    with pytest.raises(LedgerError) as caught:
        await Ledger(secret).__aenter__()
    assert "hunter2" not in str(caught.value)
    not_a_database = tmp_path / "text.db"
    not_a_database.write_text("this is a letter, not a database " * 100)
    with pytest.raises(LedgerError, match="file is not a database"):
        await Ledger(str(not_a_database)).__aenter__()


def test_sqlite_writes_ahead_and_waits(tmp_path: Path) -> None:
    import asyncio

    async def open_once() -> None:
        async with Ledger(str(tmp_path / "l.db")):
            return

    asyncio.run(open_once())
    with sqlite3.connect(tmp_path / "l.db") as connection:
        answer: Any = connection.execute("PRAGMA journal_mode").fetchone()
    assert answer == ("wal",)
