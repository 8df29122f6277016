"""The ledger: what is charged to whom, and every decision with its time, who, what and why.

All writing happens on a `Page`: the charges of one namespace while nobody else may touch them.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Final, Self

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from estimator.accounting.amounts import Amounts
from estimator.accounting.charges import Charge
from estimator.accounting.database import Database
from estimator.accounting.pages import Page
from estimator.accounting.rows import Decision, read_charge, read_decision
from estimator.accounting.schema import charges, decisions, sightings

Clock = Callable[[], float]

PROVISIONAL_SECONDS: Final = 600.0
RETENTION_SECONDS: Final = 30 * 86400.0
_PRUNE_EVERY: Final = 256
_MOST_SIGHTINGS: Final = 10_000  # the newest; whoever reaches the webhook can make workloads up


class Ledger:
    """One ledger. Use as `async with Ledger(url) as ledger`."""

    def __init__(
        self,
        url: str,
        *,
        clock: Clock = time.time,
        provisional_seconds: float = PROVISIONAL_SECONDS,
        retention_seconds: float = RETENTION_SECONDS,
        connections: int = 8,
    ) -> None:
        self.database = Database(url, connections=connections)
        self.clock = clock
        self.provisional_seconds = provisional_seconds
        self.retention_seconds = retention_seconds
        self._recorded = _PRUNE_EVERY  # so that the first decision after a start prunes

    async def __aenter__(self) -> Self:
        await self.database.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.database.close()

    @asynccontextmanager
    async def page(self, namespace: str, *, read_only: bool = False) -> AsyncIterator[Page]:
        """The charges of one namespace, locked unless `read_only`; what has expired is gone from them."""
        async with self.pages([namespace], read_only=read_only) as pages:
            yield pages[namespace]

    @asynccontextmanager
    async def pages(self, namespaces: Iterable[str], *, read_only: bool = False) -> AsyncIterator[dict[str, Page]]:
        """The charges of several namespaces in one transaction."""
        names = sorted(set(namespaces))
        opened = self.database.reading() if read_only else self.database.charging(*names)
        async with opened as connection:
            now = self.clock()
            yield {
                name: Page(self.database, connection, name, now, read_only=read_only, prune=self._prune_when_due)
                for name in names
            }

    async def used(self, namespace: str) -> Amounts:
        """What the namespace is charged for."""
        async with self.page(namespace, read_only=True) as page:
            return await page.used()

    async def namespaces(self) -> list[str]:
        """Those in which anything is charged, or was seen without being charged."""
        both = sa.union(sa.select(charges.c.namespace), sa.select(sightings.c.namespace))
        async with self.database.reading() as connection:
            return sorted(await connection.scalars(both))

    async def charges(self, namespace: str | None = None) -> AsyncIterator[Charge]:
        """Every live charge, in order of workload."""
        now = self.clock()
        query = sa.select(charges).order_by(charges.c.workload)
        if namespace is not None:
            query = query.where(charges.c.namespace == namespace)
        async with self.database.reading() as connection:
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
        if self._recorded >= _PRUNE_EVERY:
            await self._prune(connection)

    async def _prune(self, connection: AsyncConnection) -> int:
        self._recorded = 0
        oldest = self.clock() - self.retention_seconds
        newest = sa.select(sightings.c.seen_at).order_by(sightings.c.seen_at.desc()).limit(1)
        is_old = sa.or_(
            sightings.c.seen_at < oldest, sightings.c.seen_at < newest.offset(_MOST_SIGHTINGS - 1).scalar_subquery()
        )
        # What another namespace's page is writing stays: two that wait for each other's rows would never end.
        free = sa.select(sightings.c.workload).where(is_old).with_for_update(skip_locked=True)
        await connection.execute(sa.delete(sightings).where(sightings.c.workload.in_(free)))
        return int((await connection.execute(sa.delete(decisions).where(decisions.c.at < oldest))).rowcount)
