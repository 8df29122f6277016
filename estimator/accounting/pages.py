"""A page of the ledger: the charges of one namespace inside one transaction, read, changed and added up.

The statements are made once: building one costs more than the database takes to answer it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from estimator.accounting.amounts import Amounts, total_of
from estimator.accounting.charges import Charge, Unadmitted, agrees, sighted
from estimator.accounting.database import Database
from estimator.accounting.demand import Demand, WorkloadKey
from estimator.accounting.rows import (
    Decision,
    amount_rows,
    charge_row,
    decision_row,
    read_charge,
    read_sighting,
    sighting_row,
    workload_text,
)
from estimator.accounting.schema import NANOS_PER_THOUSAND, charge_amounts, charges, decisions, sightings
from estimator.accounting.usage import PODS

_MOST_AT_ONCE: Final = 5000  # values in one statement; both databases refuse more than 32 000

_namespace: Final = sa.bindparam("namespace", type_=sa.String)
_workload: Final = sa.bindparam("workload", type_=sa.String)
_workloads: Final = sa.bindparam("workloads", type_=sa.String, expanding=True)
_now: Final = sa.bindparam("now", type_=sa.Double)

_IS_DUE: Final = sa.and_(charges.c.namespace == _namespace, charges.c.expires_at <= _now)
_CHARGE: Final = sa.select(charges).where(charges.c.workload == _workload)
_CHARGE_AND_DUE: Final = sa.select(charges).where(sa.or_(charges.c.workload == _workload, _IS_DUE))
_DUE: Final = sa.select(charges).where(_IS_DUE)
_CHARGES_OF: Final = sa.select(charges).where(charges.c.workload.in_(_workloads))
_CHARGES: Final = sa.select(charges).where(charges.c.namespace == _namespace)
_MARK: Final = sa.update(charges).where(charges.c.workload.in_(_workloads)).values(marked_at=_now)
_IS_CHARGED: Final = sa.select(sa.literal(1)).where(
    charge_amounts.c.workload == _workload, charge_amounts.c.resource == PODS
)
_FORGET: Final = sa.delete(charges).where(charges.c.workload.in_(_workloads))
_FORGET_AMOUNTS: Final = sa.delete(charge_amounts).where(charge_amounts.c.workload.in_(_workloads))
_ADD_AMOUNTS: Final = sa.insert(charge_amounts)
_FORGET_SIGHTING: Final = sa.delete(sightings).where(sightings.c.workload == _workload)
_SIGHTINGS: Final = sa.select(sightings).where(sightings.c.namespace == _namespace).order_by(sightings.c.workload)


def _sums() -> sa.Select[Any]:
    """Sums per resource over the namespace, without one workload, and without what a charged owner answers for."""
    mine, owner = charge_amounts, charge_amounts.alias("owner")
    owner_is_charged = sa.exists().where(owner.c.workload == mine.c.owner, owner.c.resource == PODS)
    is_mine = sa.or_(mine.c.owner.is_(None), sa.and_(mine.c.owner != _workload, ~owner_is_charged))
    return (
        sa.select(mine.c.resource, sa.func.sum(mine.c.thousands), sa.func.sum(mine.c.nanos))
        .where(mine.c.namespace == _namespace, mine.c.workload != _workload, is_mine)
        .group_by(mine.c.resource)
    )


_SUMS: Final = _sums()


@cache
def _upsert(insert: Callable[[sa.Table], Any], table: sa.Table, key: str) -> Any:
    """Write rows; one with the same key is replaced."""
    statement = insert(table)
    generated = {column.name for column in table.primary_key if column.autoincrement is True}
    kept = {key, "marked_at", *generated}
    others = {column.name: statement.excluded[column.name] for column in table.columns if column.name not in kept}
    return statement.on_conflict_do_update(index_elements=[key], set_=others)


class Page:
    """The charges of one namespace inside one transaction."""

    def __init__(
        self,
        database: Database,
        connection: AsyncConnection,
        namespace: str,
        now: float,
        *,
        read_only: bool,
        prune: Callable[[AsyncConnection, int], Awaitable[None]],
    ) -> None:
        self.database, self.connection, self.namespace, self.now = database, connection, namespace, now
        self.read_only = read_only
        self._prune = prune
        self._is_fresh = read_only  # whether what has expired is gone
        self._absent: set[str] = set()  # workloads that are known to have no rows yet

    async def charge(self, workload: WorkloadKey) -> Charge:
        """The workload's charge; an empty one when it has none."""
        text = workload_text(workload)
        # The first question on a page also brings what has expired, to spare another one.
        for row in await self._rows(_CHARGE if self._is_fresh else _CHARGE_AND_DUE, workload=text):
            if row.workload == text:
                return read_charge(row).at(self.now)
        self._absent.add(text)
        return Charge(workload)

    async def _rows(self, statement: sa.Select[Any], **values: object) -> Sequence[Any]:
        values |= {"namespace": self.namespace, "now": self.now}
        rows: Sequence[Any] = (await self.connection.execute(statement, values)).all()
        if not self._is_fresh:
            self._is_fresh = True
            expired = [row for row in rows if row.expires_at is not None and row.expires_at <= self.now]
            if expired:
                await self.save(*(read_charge(row).at(self.now) for row in expired))
        return rows

    async def charges_of(self, workloads: Sequence[WorkloadKey]) -> dict[WorkloadKey, Charge]:
        """The charges of several workloads; those without one are left out."""
        found = {}
        for some in _slices([workload_text(workload) for workload in workloads]):
            for row in await self.connection.execute(_CHARGES_OF, {"workloads": some}):
                charge = read_charge(row).at(self.now)
                found[charge.workload] = charge
        return found

    async def mark(self, workloads: Sequence[WorkloadKey], moment: float) -> None:
        """Note that a reconcile which began at that moment found these."""
        for some in _slices([workload_text(workload) for workload in workloads]):
            await self.connection.execute(_MARK, {"workloads": some, "now": moment})

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
        return (await self.connection.execute(_IS_CHARGED, {"workload": workload_text(workload)})).first() is not None

    async def used(self, without: WorkloadKey | None = None) -> Amounts:
        """What the namespace is charged for, objects of charged owners left out; `without` one workload and its own."""
        if self.read_only:  # nothing can be dropped, so the stored sums may hold what has expired
            return total_of(charge.amounts for charge in await self.charged(without))
        if not self._is_fresh:
            await self._rows(_DUE)
        left_out = "" if without is None else workload_text(without)
        rows: Any = await self.connection.execute(_SUMS, {"namespace": self.namespace, "workload": left_out})
        return {resource: int(thousands) * NANOS_PER_THOUSAND + int(nanos) for resource, thousands, nanos in rows}

    async def charged(self, without: WorkloadKey | None = None) -> list[Charge]:
        """The charges one by one, as `used` counts them: for what a sum over resources cannot tell."""
        rows = await self.connection.execute(_CHARGES, {"namespace": self.namespace})
        found = [charge for row in rows if (charge := read_charge(row).at(self.now)).is_live]
        charging = {charge.workload for charge in found if PODS in charge.amounts}
        if without is not None:
            charging.discard(without)
            found = [charge for charge in found if without not in (charge.workload, charge.owner)]
        return [charge for charge in found if charge.owner not in charging]

    async def sight(
        self, workload: WorkloadKey, demand: Demand, *, owner: WorkloadKey | None = None, uid: str = "",
        generation: int = 0,
    ) -> bool:  # fmt: skip
        """Note that Karmada asked about a workload; whether that is what is charged. Raises `QuantityError`."""
        seen = Unadmitted(workload, demand, self.now)
        _ = seen.amounts  # nothing is noted whose amounts are none
        before = await self.charge(workload)
        after = sighted(before, demand, uid=uid, generation=generation)
        if after != before:
            await self.save(replace(after, source="interpret"))
        if agrees(after, demand) or (owner is not None and await self.is_charged(owner)):
            await self.forget_sighting(workload)
            return True
        upsert = _upsert(self.database.insert, sightings, "workload")
        await self.connection.execute(upsert, [sighting_row(seen)])
        await self._prune(self.connection, 1)
        return False

    async def forget_sighting(self, workload: WorkloadKey) -> None:
        await self.connection.execute(_FORGET_SIGHTING, {"workload": workload_text(workload)})

    async def unadmitted(self) -> list[Unadmitted]:
        """The workloads that Karmada asked about and that are not charged as they were seen, in order."""
        rows = await self.connection.execute(_SIGHTINGS, {"namespace": self.namespace})
        seen = [read_sighting(row) for row in rows]
        known = await self.charges_of([sighting.workload for sighting in seen])
        found = []
        for sighting in seen:
            charge = known.get(sighting.workload)
            if charge is None or not charge.is_live:
                found.append(sighting)
            elif charge.updated_at <= sighting.seen_at and not agrees(charge, sighting.demand):
                found.append(replace(sighting, charged=charge.amounts))
        return found

    async def save(self, *changed: Charge) -> None:
        """Write charges and their amounts. A charge with nothing left in it is forgotten."""
        texts = {workload_text(charge.workload) for charge in changed}
        for some in _slices(sorted(texts - self._absent)):
            await self.connection.execute(_FORGET_AMOUNTS, {"workloads": some})
        self._absent -= texts
        for some in _slices([workload_text(charge.workload) for charge in changed if not charge.is_live]):
            await self.connection.execute(_FORGET, {"workloads": some})
        live = [replace(charge, updated_at=self.now) for charge in changed if charge.is_live]
        if live:
            upsert = _upsert(self.database.insert, charges, "workload")
            await self.connection.execute(upsert, [charge_row(charge) for charge in live])
        if amounts := [row for charge in live for row in amount_rows(charge)]:
            await self.connection.execute(_ADD_AMOUNTS, amounts)

    async def record(self, *made: Decision) -> None:
        """Write decisions down. The same request again replaces its line."""
        upsert = _upsert(self.database.insert, decisions, "request")
        await self.connection.execute(upsert, [decision_row(decision, self.now) for decision in made])
        await self._prune(self.connection, len(made))


def _slices(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(texts), _MOST_AT_ONCE):
        yield texts[start : start + _MOST_AT_ONCE]
