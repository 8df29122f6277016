"""Pages of several namespaces in one transaction: their questions to the database are asked together, and their
changes are written together when all is decided."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from estimator.accounting.demand import WorkloadKey
from estimator.accounting.ledger import queries
from estimator.accounting.ledger.charges import Charge
from estimator.accounting.ledger.namespace_page import Page
from estimator.accounting.ledger.rows import (
    Decision,
    charge_row,
    decision_row,
    read_charge,
    read_decision,
    sighting_row,
    workload_columns,
)
from estimator.accounting.ledger.schema import charges, running_sums, sightings
from estimator.accounting.ledger.sums import NOTHING, Sum, SumKey, Sums, sum_rows

Insert = Callable[[sa.Table], Any]


class Transaction:
    """Pages of several namespaces that are read and written together."""

    def __init__(self, connection: AsyncConnection, insert: Insert, now: float, *, read_only: bool) -> None:
        self.connection, self.now, self.read_only = connection, now, read_only
        self.pages: dict[str, Page] = {}
        self._insert = insert
        self._decisions: dict[str, list[Decision]] = {}

    async def open(self, workloads: Mapping[str, Sequence[WorkloadKey]], requests: Sequence[str] = ()) -> None:
        """Open the namespaces' pages, with the charges of these workloads read and what has expired gone."""
        self.pages = {namespace: Page(self, namespace) for namespace in workloads}
        values = {"namespaces": list(self.pages), "now": self.now}
        due = (await self.connection.execute(queries.DUE, values)).all() if self.pages else ()
        for charge in map(read_charge, due):
            self.pages[charge.workload.namespace].expire(charge)
        if any(workloads.values()):
            await self.read_charges(workloads)
            await self.read_sums(list(self.pages), sorted({""}.union(*(page.clusters for page in self.pages.values()))))
        if requests:
            await self.read_decisions(requests)

    async def read_charges(self, workloads: Mapping[str, Sequence[WorkloadKey]]) -> None:
        unread = {namespace: self.pages[namespace].unread(keys) for namespace, keys in workloads.items()}
        namespaces = [namespace for namespace, names in unread.items() if names]
        for names in queries.slices(sorted(set().union(*unread.values()))):
            values = {"namespaces": namespaces, "names": names}
            found: dict[str, list[Charge]] = defaultdict(list)
            for row in await self.connection.execute(queries.NAMED, values):
                found[row.namespace].append(read_charge(row))
            for namespace in namespaces:
                self.pages[namespace].take_charges(set(names), found[namespace])

    async def read_sums(self, namespaces: Sequence[str], values: Sequence[str]) -> None:
        found: dict[str, Sums] = defaultdict(dict)
        for some in queries.slices(values):
            for row in await self.connection.execute(queries.SUMS, {"namespaces": namespaces, "values": some}):
                found[row.namespace][SumKey(row.dimension, row.value, row.resource)] = Sum(row.charged, row.confirmed)
        for namespace in namespaces:
            self.pages[namespace].take_sums(values, found[namespace])

    async def read_decisions(self, requests: Sequence[str]) -> list[Decision]:
        missing = [request for request in requests if request not in self._decisions]
        if missing:
            self._decisions |= {request: [] for request in missing}
            for some in queries.slices(missing):
                for row in await self.connection.execute(queries.MADE, {"requests": some}):
                    self._decisions[row.request].append(read_decision(row))
        return [decision for request in requests for decision in self._decisions[request]]

    async def write(self) -> int:
        """Write what the pages were told; how many decisions and sightings that were."""
        if self.read_only:
            return 0
        changed = [charge for page in self.pages.values() for charge in page.changed.values()]
        live = [charge_row(charge) for charge in changed if charge.is_live]
        await self._write(
            charges, live, [workload_columns(charge.workload) for charge in changed if not charge.is_live]
        )
        sums = [(page.namespace, await page.new_sums()) for page in self.pages.values()]
        kept = [row for namespace, new in sums for row in sum_rows(namespace, _where(new, is_zero=False))]
        gone = [row for namespace, new in sums for row in sum_rows(namespace, _where(new, is_zero=True))]
        await self._write(running_sums, kept, gone)
        seen = [item for page in self.pages.values() for item in page.sighted.items()]
        new = [sighting_row(found) for _, found in seen if found is not None]
        await self._write(sightings, new, [workload_columns(workload) for workload, found in seen if found is None])
        made = [decision_row(decision, self.now) for page in self.pages.values() for decision in page.made]
        if made:
            await self.connection.execute(*queries.recorded(self._insert, made))
        return len(made) + len(new)

    async def _write(self, table: sa.Table, rows: list[dict[str, Any]], gone: list[dict[str, Any]]) -> None:
        if gone:
            await self.connection.execute(queries.forget(table), [queries.key_of(table, row) for row in gone])
        if rows:
            await self.connection.execute(*queries.written(self._insert, table, rows))


def _where(sums: Sums, *, is_zero: bool) -> list[tuple[SumKey, Sum]]:
    return [(key, amount) for key, amount in sums.items() if (amount == NOTHING) is is_zero]
