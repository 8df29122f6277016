"""The ledger: what is charged to whom, and every decision with its time, who, what and why.

All writing happens on a `Page`: the charges of one namespace while nobody else may touch them.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from types import TracebackType
from typing import Any, Final, Self

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from estimator.accounting.amounts import Amounts
from estimator.accounting.charges import Charge, bound
from estimator.accounting.database import Database
from estimator.accounting.demand import Demand, WorkloadKey
from estimator.accounting.pages import Page
from estimator.accounting.rows import Decision, read_charge, read_decision
from estimator.accounting.schema import charges, decisions

Clock = Callable[[], float]

PROVISIONAL_SECONDS: Final = 600.0
RETENTION_SECONDS: Final = 30 * 86400.0
_PRUNE_EVERY: Final = 256


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
                name: Page(
                    self.database, connection, name, now, read_only=read_only, prune_decisions=self._prune_when_due
                )
                for name in names
            }

    async def see(self, workload: WorkloadKey, demand: Demand, **about: Any) -> Charge:
        """Somebody saw the workload (Karmada asked for its components). Keywords: see `Page.see`."""
        async with self.page(workload.namespace) as page:
            return await page.see(workload, demand, **about)

    async def see_binding(self, workload: WorkloadKey, demand: Demand, *, source: str = "binding") -> Charge:
        """Somebody saw the workload's binding."""
        async with self.page(workload.namespace) as page:
            charge = replace(bound(await page.charge(workload), demand), source=source)
            await page.save(charge)
            return charge

    async def used(self, namespace: str) -> Amounts:
        """What the namespace is charged for."""
        async with self.page(namespace, read_only=True) as page:
            return await page.used()

    async def namespaces(self) -> list[str]:
        async with self.database.reading() as connection:
            found = await connection.scalars(sa.select(charges.c.namespace).distinct().order_by(charges.c.namespace))
            return list(found)

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
        """Forget decisions older than the retention; how many that were."""
        async with self.database.charging() as connection:
            return await self._prune(connection)

    async def _prune_when_due(self, connection: AsyncConnection, recorded: int) -> None:
        """Every so many decisions; a ledger that nobody writes to does not grow."""
        self._recorded += recorded
        if self._recorded >= _PRUNE_EVERY:
            await self._prune(connection)

    async def _prune(self, connection: AsyncConnection) -> int:
        self._recorded = 0
        oldest = self.clock() - self.retention_seconds
        return int((await connection.execute(sa.delete(decisions).where(decisions.c.at < oldest))).rowcount)
