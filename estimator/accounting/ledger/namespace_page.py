"""A page of the ledger: the charges of one namespace inside one transaction, read, changed and added up.

What a page reads it keeps, and what it is told it writes when the transaction ends. So several decisions share the
questions and the writing, and each sees what those before it left.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from sqlalchemy.ext.asyncio import AsyncConnection

from estimator.accounting.demand import Demand, Target, WorkloadKey
from estimator.accounting.ledger import queries
from estimator.accounting.ledger.charges import Charge, Unadmitted, agrees, sighted
from estimator.accounting.ledger.rows import Decision, read_charge, read_sighting
from estimator.accounting.ledger.sums import (
    NOTHING,
    Others,
    Sum,
    SumKey,
    Sums,
    amounts_of,
    by_pod_class,
    change,
    footprint,
)
from estimator.quotas.amounts import NanoAmounts, no_amounts


class Transaction(Protocol):
    """What a page needs of the transaction that it belongs to: answers to questions that pages ask together."""

    connection: AsyncConnection
    now: float
    read_only: bool

    async def read_charges(self, workloads: Mapping[str, Sequence[WorkloadKey]]) -> None: ...

    async def read_sums(self, namespaces: Sequence[str], values: Sequence[str]) -> None: ...

    async def read_decisions(self, requests: Sequence[str]) -> list[Decision]: ...


class Page:
    """The charges of one namespace inside one transaction."""

    def __init__(self, transaction: Transaction, namespace: str) -> None:
        self.namespace = namespace
        self.now = transaction.now
        self.read_only = transaction.read_only
        self.made: list[Decision] = []
        """What was decided here and is to be written down."""

        self.sighted: dict[WorkloadKey, Unadmitted | None] = {}
        """Workloads that were seen without being charged; None to forget one."""

        self._transaction = transaction
        self._connection = transaction.connection
        self._known: dict[WorkloadKey, Charge] = {}
        self._read_names: set[str] = set()
        self._stored: Sums = {}
        self._read_values: set[str] | None = set()  # None: all of them
        self._added: Sums = {}
        self.changed: dict[WorkloadKey, Charge] = {}

    async def charge(self, workload: WorkloadKey) -> Charge:
        """The workload's charge; an empty one when it has none."""
        if workload.name not in self._read_names:
            await self._transaction.read_charges({self.namespace: [workload]})
        known = self._known.get(workload)
        return known if known is not None and known.is_live else Charge(workload)

    async def charges_of(self, workloads: Sequence[WorkloadKey]) -> dict[WorkloadKey, Charge]:
        """The charges of several workloads; those without one are left out."""
        await self._transaction.read_charges({self.namespace: workloads})
        return {workload: found for workload in workloads if (found := self._known.get(workload)) and found.is_live}

    async def untouched_since(self, moment: float) -> list[Charge]:
        """Charges that nobody changed after that moment, and that wait for nothing."""
        values = {"namespace": self.namespace, "moment": moment}
        found = [read_charge(row).at(self.now) for row in await self._connection.execute(queries.UNTOUCHED, values)]
        return [charge for charge in found if charge.is_live and charge.provisional is None]

    async def used(self) -> NanoAmounts:
        """What the namespace is charged for."""
        return amounts_of(await self.sums([""]), "all").get("") or no_amounts()

    async def others(self, before: Charge, after: Charge, *, scopes: bool) -> Others:
        """What everybody but this workload is charged for, as far as the change concerns it; with `scopes` also by
        class of pods."""
        clusters = {target.name for charge in (before, after) for target in _targets(charge)}
        sums = await self.all_sums() if scopes else await self.sums(["", *clusters])
        change(sums, footprint(before), times=-1)
        mixed: list[Charge] = []
        if scopes:
            rows = await self._connection.execute(queries.MIXED, {"namespace": self.namespace})
            found = {charge.workload: charge.at(self.now) for charge in map(read_charge, rows)} | self._known
            mixed = [charge for key, charge in found.items() if key != before.workload and charge.is_mixed]
        return Others(
            total=amounts_of(sums, "all").get("") or no_amounts(),
            by_cluster=amounts_of(sums, "cluster"),
            by_pod_class=by_pod_class(sums),
            mixed=mixed,
        )

    async def sums(self, values: Iterable[str]) -> Sums:
        """The running sums of these clusters and priority classes; the empty value is the whole namespace."""
        missing = set() if self._read_values is None else {*values} - self._read_values
        if missing:
            await self._transaction.read_sums([self.namespace], sorted(missing))
        return self._current()

    async def all_sums(self) -> Sums:
        """Every running sum of the namespace."""
        if self._read_values is not None:
            rows = await self._connection.execute(queries.ALL_SUMS, {"namespace": self.namespace})
            self._stored = {
                SumKey(row.dimension, row.value, row.resource): Sum(row.charged, row.confirmed) for row in rows
            }
            self._read_values = None
        return self._current()

    def _current(self) -> Sums:
        current = dict(self._stored)
        change(current, self._added)
        return current

    async def charged(self) -> list[Charge]:
        """The charges one by one."""
        rows = await self._connection.execute(queries.ALL, {"namespace": self.namespace})
        found = {charge.workload: charge for charge in (read_charge(row).at(self.now) for row in rows)} | self._known
        return [charge for charge in found.values() if charge.is_live]

    async def decision_on(self, request: str, digest: str) -> Decision | None:
        """What was decided when the same was asked before."""
        for decision in [*await self._transaction.read_decisions([request]), *self.made] if request else ():
            if (decision.request, decision.digest) == (request, digest):
                return decision
        return None

    async def sight(self, workload: WorkloadKey, demand: Demand, *, uid: str = "", generation: int = 0) -> bool:
        """Note that Karmada asked about a workload; whether that is what is charged. Raises `QuantityError`."""
        seen = Unadmitted(workload, demand, self.now)
        _ = seen.amounts  # nothing is noted whose amounts are none
        before = await self.charge(workload)
        after = sighted(before, demand, uid=uid, generation=generation)
        if after != before:
            await self.save(replace(after, source="interpret"))
        is_charged = agrees(after, demand)
        self.sighted[workload] = None if is_charged else seen
        return is_charged

    async def unadmitted(self) -> list[Unadmitted]:
        """The workloads that Karmada asked about and that are not charged as they were seen, in order."""
        rows = await self._connection.execute(queries.SIGHTINGS, {"namespace": self.namespace})
        seen = [read_sighting(row) for row in rows]
        known = await self.charges_of([sighting.workload for sighting in seen])
        found = []
        for sighting in seen:
            charge = known.get(sighting.workload)
            if charge is None:
                found.append(sighting)
            elif charge.updated_at <= sighting.seen_at and not agrees(charge, sighting.demand):
                found.append(replace(sighting, charged=charge.amounts))
        return found

    async def save(self, *changed: Charge) -> None:
        """Change charges. One with nothing left in it is forgotten. Raises `QuantityError` and changes nothing."""
        await self._transaction.read_charges({self.namespace: [charge.workload for charge in changed]})
        for charge, more in [(charge, footprint(charge)) for charge in changed]:
            before = self._known.get(charge.workload)
            if before is not None:
                change(self._added, footprint(before), times=-1)
            change(self._added, more)
            self._known[charge.workload] = self.changed[charge.workload] = replace(charge, updated_at=self.now)

    def record(self, *made: Decision) -> None:
        """Write decisions down."""
        self.made += made

    def forget_sighting(self, workload: WorkloadKey) -> None:
        self.sighted[workload] = None

    # For the transaction, which reads for all its pages at once.

    @property
    def clusters(self) -> set[str]:
        """Those of the charges that were read."""
        return {target.name for charge in self._known.values() for target in _targets(charge)}

    def unread(self, workloads: Iterable[WorkloadKey]) -> set[str]:
        return {workload.name for workload in workloads} - self._read_names

    def take_charges(self, names: set[str], found: Iterable[Charge]) -> None:
        for charge in found:
            self._known.setdefault(charge.workload, charge)
        self._read_names |= names

    def take_sums(self, values: Iterable[str], found: Sums) -> None:
        if self._read_values is not None:
            self._stored |= found
            self._read_values |= set(values)

    def expire(self, charge: Charge) -> None:
        """Take back what has lapsed. In the database that is done by whoever writes next."""
        self._known[charge.workload] = after = charge.at(self.now)
        change(self._added, footprint(charge), times=-1)
        change(self._added, footprint(after))
        self.changed[charge.workload] = replace(after, updated_at=self.now)

    async def new_sums(self) -> Sums:
        """The running sums that differ from the stored ones."""
        touched = {key: amount for key, amount in self._added.items() if amount != NOTHING}
        await self.sums({key.value for key in touched})
        return {key: self._stored.get(key, NOTHING) + amount for key, amount in touched.items()}


def _targets(charge: Charge) -> Iterator[Target]:
    for demand in (charge.confirmed, charge.provisional):
        yield from demand.targets if demand is not None else ()
