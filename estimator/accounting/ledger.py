"""The ledger: what is charged to whom, and every decision with its time, who, what and why.

All writing happens in a `Page`: the charges of one namespace while nobody else may touch them.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from types import TracebackType
from typing import Any, Final, Self

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from estimator.accounting.amounts import Amounts, total_of
from estimator.accounting.charges import Charge, bound, seen
from estimator.accounting.database import Database
from estimator.accounting.demand import Demand, WorkloadKey
from estimator.accounting.rows import (
    Decision,
    amount_rows,
    charge_row,
    decision_row,
    read_charge,
    read_decision,
    workload_text,
)
from estimator.accounting.schema import NANOS_PER_THOUSAND, charge_amounts, charges, decisions
from estimator.accounting.usage import PODS

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
            yield {name: Page(self, connection, name, read_only=read_only) for name in names}

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
            return await self.prune_in(connection)

    async def prune_in(self, connection: AsyncConnection) -> int:
        """The same inside a transaction that is open already."""
        self._recorded = 0
        oldest = self.clock() - self.retention_seconds
        return int((await connection.execute(sa.delete(decisions).where(decisions.c.at < oldest))).rowcount)

    def is_time_to_prune(self, recorded: int) -> bool:
        """Every so many decisions; a ledger that nobody writes to does not grow."""
        self._recorded += recorded
        return self._recorded >= _PRUNE_EVERY


class Page:
    """The charges of one namespace inside one transaction."""

    def __init__(self, ledger: Ledger, connection: AsyncConnection, namespace: str, *, read_only: bool = False) -> None:
        self.ledger, self.connection, self.namespace, self.read_only = ledger, connection, namespace, read_only
        self.now = ledger.clock()
        self._is_fresh = read_only  # whether what has expired is gone
        self._absent: set[str] = set()  # workloads that are known to have no rows yet

    async def charge(self, workload: WorkloadKey) -> Charge:
        """The workload's charge; an empty one when it has none."""
        text = workload_text(workload)
        rows = await self._refresh(charges.c.workload == text)
        for row in rows:
            if row.workload == text:
                return read_charge(row).at(self.now)
        self._absent.add(text)
        return Charge(workload)

    async def _refresh(self, also: sa.ColumnElement[bool] | None = None) -> Sequence[Any]:
        """Rows by a condition and, the first time, those that have expired, in one question; these are dropped."""
        conditions = [] if also is None else [also]
        if not self._is_fresh:
            conditions.append(sa.and_(charges.c.namespace == self.namespace, charges.c.expires_at <= self.now))
        if not conditions:
            return ()
        rows = (await self.connection.execute(sa.select(charges).where(sa.or_(*conditions)))).all()
        if not self._is_fresh:
            self._is_fresh = True
            expired = [row for row in rows if row.expires_at is not None and row.expires_at <= self.now]
            if expired:
                await self.save(*(read_charge(row).at(self.now) for row in expired))
        return rows

    async def charges_of(self, workloads: Sequence[WorkloadKey]) -> dict[WorkloadKey, Charge]:
        """The charges of several workloads; those without one are left out."""
        texts = [workload_text(workload) for workload in workloads]
        rows = await self.connection.execute(sa.select(charges).where(charges.c.workload.in_(texts)))
        found = (read_charge(row).at(self.now) for row in rows)
        return {charge.workload: charge for charge in found}

    async def mark(self, workloads: Sequence[WorkloadKey], moment: float) -> None:
        """Note that a reconcile which began at that moment found these."""
        texts = [workload_text(workload) for workload in workloads]
        await self.connection.execute(sa.update(charges).where(charges.c.workload.in_(texts)).values(marked_at=moment))

    async def unmarked(self, moment: float, as_of: float) -> list[Charge]:
        """Charges that the reconcile did not find, and that nobody touched since its truth was taken."""
        query = sa.select(charges).where(
            charges.c.namespace == self.namespace,
            charges.c.updated_at <= as_of,
            sa.or_(charges.c.marked_at.is_(None), charges.c.marked_at < moment),
        )
        found = (read_charge(row).at(self.now) for row in await self.connection.execute(query))
        return [charge for charge in found if charge.provisional is None]

    async def is_charged(self, workload: WorkloadKey) -> bool:
        """Whether it is charged for any pods; a workload that has none yet does not stand in for what it owns."""
        query = sa.select(sa.literal(1)).where(
            charge_amounts.c.workload == workload_text(workload), charge_amounts.c.resource == PODS
        )
        return (await self.connection.execute(query)).first() is not None

    async def used(self, without: WorkloadKey | None = None) -> Amounts:
        """What the namespace is charged for, objects of charged owners left out; `without` one workload and its own."""
        if self.read_only:  # nothing can be dropped, so the stored sums may hold what has expired
            return total_of(charge.amounts for charge in await self.charged(without))
        await self._refresh()
        mine, owner = charge_amounts, charge_amounts.alias("owner")
        owner_is_charged = sa.exists().where(owner.c.workload == mine.c.owner, owner.c.resource == PODS)
        query = sa.select(mine.c.resource, sa.func.sum(mine.c.thousands), sa.func.sum(mine.c.nanos)).where(
            mine.c.namespace == self.namespace, sa.or_(mine.c.owner.is_(None), ~owner_is_charged)
        )
        if without is not None:
            text = workload_text(without)
            query = query.where(mine.c.workload != text, sa.or_(mine.c.owner.is_(None), mine.c.owner != text))
        rows = await self.connection.execute(query.group_by(mine.c.resource))
        return {resource: int(thousands) * NANOS_PER_THOUSAND + int(nanos) for resource, thousands, nanos in rows}

    async def charged(self, without: WorkloadKey | None = None) -> list[Charge]:
        """The charges one by one, as `used` counts them: for what a sum over resources cannot tell."""
        rows = await self.connection.execute(sa.select(charges).where(charges.c.namespace == self.namespace))
        found = [charge for row in rows if (charge := read_charge(row).at(self.now)).is_live]
        charging = {charge.workload for charge in found if PODS in charge.amounts}
        if without is not None:
            charging.discard(without)
            found = [charge for charge in found if without not in (charge.workload, charge.owner)]
        return [charge for charge in found if charge.owner not in charging]

    async def see(
        self, workload: WorkloadKey, demand: Demand, *, owner: WorkloadKey | None = None, uid: str = "",
        generation: int = 0, source: str = "seen",
    ) -> Charge:  # fmt: skip
        before = await self.charge(workload)
        after = seen(before, demand, generation=generation)
        after = replace(after, owner=owner or before.owner, uid=uid or before.uid, source=source)
        await self.save(after)
        return after

    async def save(self, *changed: Charge) -> None:
        """Write charges and their amounts. A charge with nothing left in it is forgotten."""
        workloads = {workload_text(charge.workload) for charge in changed}
        if known := workloads - self._absent:
            await self.connection.execute(sa.delete(charge_amounts).where(charge_amounts.c.workload.in_(known)))
        self._absent -= workloads
        live = [replace(charge, updated_at=self.now) for charge in changed if charge.is_live]
        if len(live) < len(changed):
            gone = [workload_text(charge.workload) for charge in changed if not charge.is_live]
            await self.connection.execute(sa.delete(charges).where(charges.c.workload.in_(gone)))
        if live:
            statement = self.ledger.database.insert(charges)
            rows = [charge_row(charge) for charge in live]
            others = {name: statement.excluded[name] for name in rows[0] if name != "workload"}
            upsert = statement.on_conflict_do_update(index_elements=["workload"], set_=others)
            await self.connection.execute(upsert, rows)
        if amounts := [row for charge in live for row in amount_rows(charge)]:
            await self.connection.execute(sa.insert(charge_amounts), amounts)

    async def record(self, *made: Decision) -> None:
        """Write decisions down. The same request again replaces its line."""
        statement = self.ledger.database.insert(decisions)
        rows = [decision_row(decision, self.now) for decision in made]
        others = {name: statement.excluded[name] for name in rows[0]}
        upsert = statement.on_conflict_do_update(index_elements=["request"], set_=others)
        await self.connection.execute(upsert, rows)
        if self.ledger.is_time_to_prune(len(made)):
            await self.ledger.prune_in(self.connection)
