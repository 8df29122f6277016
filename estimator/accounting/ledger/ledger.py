"""The ledger: what is charged to whom, and every decision with its time, who, what and why.

All writing happens on a `Page`: the charges of one namespace while nobody else may touch them. Time is the database's,
so that servers whose clocks differ agree on what has expired.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Final, Self

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from estimator.accounting.defaults import PROVISIONAL_SECONDS, RETENTION_SECONDS
from estimator.accounting.demand import WorkloadKey
from estimator.accounting.ledger.charges import Charge
from estimator.accounting.ledger.database import MOST_SECONDS, Database, LedgerError
from estimator.accounting.ledger.namespace_page import Page
from estimator.accounting.ledger.queries import upsert
from estimator.accounting.ledger.rows import Decision, read_charge, read_decision
from estimator.accounting.ledger.schema import charges, decisions, moments, running_sums, sightings
from estimator.accounting.ledger.transactions import Transaction
from estimator.accounting.ledger.write_queue import Answer, Task, WriteQueue
from estimator.quotas.amounts import NanoAmounts, no_amounts

Clock = Callable[[], float]

RECONCILED: Final = "reconciled"
"""The moment at which the ledger was last compared with a live Karmada."""

_PRUNE_EVERY: Final = 256
_MOST_SIGHTINGS: Final = 10_000  # the newest; whoever reaches the webhook can make workloads up
_TRANSACTIONS: Final = 3  # beside each other, on PostgreSQL; more of them only wait for the same processor


class Ledger:
    """One ledger. Use as `async with Ledger(url) as ledger`."""

    def __init__(
        self,
        url: str,
        *,
        clock: Clock | None = None,
        provisional_seconds: float = PROVISIONAL_SECONDS,
        retention_seconds: float = RETENTION_SECONDS,
        connections: int = 8,
        create: bool = True,
    ) -> None:
        """`clock` stands in for the database's own, for tests that let time pass. Without `create` there has to be a
        ledger already: who only reads must not make one of whatever is there."""
        self.database = Database(url, connections=connections)
        self.provisional_seconds = provisional_seconds
        self.retention_seconds = retention_seconds
        self._clock = clock
        self._create = create
        self._queue = WriteQueue(self._work, 1 if self.database.is_sqlite else _TRANSACTIONS)
        self._recorded = _PRUNE_EVERY  # so that the first decision after a start prunes

    async def __aenter__(self) -> Self:
        try:
            await self.open()
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def open(self) -> None:
        """Connect, and bring the schema up to date. Raises `LedgerError`; then it may be tried again."""
        await self.database.open(create=self._create)

    async def close(self) -> None:
        await self._queue.close()
        await self.database.close()

    async def submit(self, task: Task[Answer], seconds: float | None = None) -> Answer:
        """Do something on a page, written together with what else waits. Raises `LedgerError` within `seconds`."""
        return await self._queue.submit(task, seconds)

    async def look(self, task: Task[Answer], seconds: float | None = None) -> Answer:
        """Do the same without writing anything. Raises `LedgerError` within `seconds`."""
        namespace = task.workload.namespace
        return await self.look_through(
            {namespace: [task.workload]}, lambda pages: task.run(pages[namespace]), seconds, [task.request]
        )

    async def look_through(
        self,
        workloads: Mapping[str, Sequence[WorkloadKey]],
        run: Callable[[Mapping[str, Page]], Awaitable[Answer]],
        seconds: float | None = None,
        requests: Sequence[str] = (),
    ) -> Answer:
        """The same on the pages of several namespaces; the charges of these workloads are read at once."""
        bound = MOST_SECONDS if seconds is None else seconds

        async def looking() -> Answer:
            async with self._transaction(workloads, requests, read_only=True, seconds=bound) as transaction:
                return await run(transaction.pages)

        task = asyncio.create_task(looking())  # not cancelled: the driver could wait for its answer
        await asyncio.wait({task}, timeout=bound)
        if not task.done():
            raise LedgerError(f"the ledger did not answer within {bound:.1f} s")
        return task.result()

    @asynccontextmanager
    async def page(self, namespace: str, *, read_only: bool = False) -> AsyncIterator[Page]:
        """The charges of one namespace, locked unless `read_only`; what has expired is gone from them."""
        async with self.pages([namespace], read_only=read_only) as pages:
            yield pages[namespace]

    @asynccontextmanager
    async def pages(self, namespaces: Iterable[str], *, read_only: bool = False) -> AsyncIterator[dict[str, Page]]:
        """The charges of several namespaces in one transaction."""
        async with self._transaction(dict.fromkeys(namespaces, ()), read_only=read_only) as transaction:
            yield transaction.pages

    @asynccontextmanager
    async def _transaction(
        self,
        workloads: Mapping[str, Sequence[WorkloadKey]],
        requests: Sequence[str] = (),
        *,
        read_only: bool = False,
        seconds: float | None = MOST_SECONDS,
    ) -> AsyncIterator[Transaction]:
        database = self.database
        opened = database.reading(seconds) if read_only else database.charging(*workloads, seconds=seconds)
        async with opened as connection:
            transaction = Transaction(connection, database.insert, await self.clock(connection), read_only=read_only)
            await transaction.open(workloads, requests)
            yield transaction
            await self._prune_when_due(connection, await transaction.write())

    async def _work(self, tasks: Sequence[Task[Any]], seconds: float) -> list[Any]:
        workloads: dict[str, list[WorkloadKey]] = {}
        for task in tasks:
            workloads.setdefault(task.workload.namespace, []).append(task.workload)
        requests = sorted({task.request for task in tasks if task.request})
        async with self._transaction(workloads, requests, seconds=seconds) as transaction:
            return [await task.run(transaction.pages[task.workload.namespace]) for task in tasks]

    async def now(self) -> float:
        """The time by the database's clock."""
        if self._clock is not None:
            return self._clock()
        async with self.database.reading(MOST_SECONDS) as connection:
            return await self.database.now(connection)

    async def clock(self, connection: AsyncConnection) -> float:
        """The time inside a transaction."""
        return self._clock() if self._clock is not None else await self.database.now(connection)

    async def moment(self, name: str) -> float | None:
        """When something was last done by any server."""
        async with self.database.reading(MOST_SECONDS) as connection:
            found: float | None = await connection.scalar(sa.select(moments.c.at).where(moments.c.name == name))
            return found

    async def note_moment(self, name: str, *, seconds: float = MOST_SECONDS) -> None:
        """Note that something was done now. It is a write like any other, so it also shows whether one can be made."""
        async with self.database.charging(seconds=seconds) as connection:
            row = {"name": name, "at": await self.clock(connection)}
            await connection.execute(upsert(self.database.insert, moments), [row])

    async def used(self, namespace: str) -> NanoAmounts:
        """What the namespace is charged for."""
        async with self.page(namespace, read_only=True) as page:
            return await page.used()

    async def totals(self) -> dict[str, NanoAmounts]:
        """What each namespace is charged for; what has expired since anybody wrote is still in it."""
        query = sa.select(running_sums).where(running_sums.c.dimension == "all")
        found: dict[str, NanoAmounts] = {}
        async with self.database.reading(MOST_SECONDS) as connection:
            for row in await connection.execute(query):
                found.setdefault(row.namespace, no_amounts())[row.resource] = row.charged
        return found

    async def namespaces(self) -> list[str]:
        """Those in which anything is charged, or was seen without being charged."""
        both = sa.union(sa.select(charges.c.namespace), sa.select(sightings.c.namespace))
        async with self.database.reading() as connection:
            return sorted(await connection.scalars(both))

    async def charges(self, namespace: str | None = None) -> AsyncIterator[Charge]:
        """Every live charge, in order of workload."""
        query = sa.select(charges).order_by(charges.c.api_group, charges.c.kind, charges.c.namespace, charges.c.name)
        if namespace is not None:
            query = query.where(charges.c.namespace == namespace)
        async with self.database.reading() as connection:
            now = await self.clock(connection)
            async for row in await connection.stream(query):
                charge = read_charge(row).at(now)
                if charge.is_live:
                    yield charge

    async def decisions(self, namespace: str | None = None, limit: int | None = None) -> AsyncIterator[Decision]:
        """The record, newest first."""
        query = sa.select(decisions).order_by(decisions.c.id.desc()).limit(limit)
        if namespace is not None:
            query = query.where(decisions.c.namespace == namespace)
        async with self.database.reading() as connection:
            async for row in await connection.stream(query):
                yield read_decision(row)

    async def prune(self) -> int:
        """Forget decisions and sightings older than the retention; how many decisions that were."""
        async with self.database.charging() as connection:
            return await self._prune(connection)

    async def _prune_when_due(self, connection: AsyncConnection, recorded: int) -> None:
        """Every so many decisions and sightings; a ledger that nobody writes to does not grow."""
        self._recorded += recorded
        if recorded and self._recorded >= _PRUNE_EVERY:
            await self._prune(connection)

    async def _prune(self, connection: AsyncConnection) -> int:
        self._recorded = 0
        oldest = await self.clock(connection) - self.retention_seconds
        newest = sa.select(sightings.c.seen_at).order_by(sightings.c.seen_at.desc()).limit(1)
        is_old = sa.or_(
            sightings.c.seen_at < oldest, sightings.c.seen_at < newest.offset(_MOST_SIGHTINGS - 1).scalar_subquery()
        )
        keys = [sightings.c.namespace, sightings.c.name, sightings.c.kind, sightings.c.api_group]
        # What another namespace's page is writing stays: two that wait for each other's rows would never end.
        free = sa.select(*keys).where(is_old).with_for_update(skip_locked=True)
        await connection.execute(sa.delete(sightings).where(sa.tuple_(*keys).in_(free)))
        return int((await connection.execute(sa.delete(decisions).where(decisions.c.at < oldest))).rowcount)
