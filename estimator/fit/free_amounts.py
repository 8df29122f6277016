"""What is free on every node, one column per resource, ready for arithmetic over thousands of nodes at once.

A column holds 64-bit integers as long as every amount fits, and Python integers when one does not. Columns are never
changed in place, so an estimate that reads them is not disturbed by what happens in the cluster meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from estimator.fit.amounts import SchedulerAmounts
from estimator.fit.model import Node
from estimator.fit.node_index import NodeIndex
from interpreters.core.resources import PODS

Column = NDArray[Any]

LARGEST: Final = 2**62
"""SchedulerAmounts up to here, and the difference of two of them, fit a 64-bit integer."""


def column(amounts: Sequence[int]) -> Column:
    """The amounts as 64-bit integers where they all fit, as Python integers otherwise."""
    if max(amounts, default=0) <= LARGEST:
        return np.array(amounts, dtype=np.int64)
    return np.array(amounts, dtype=object)


def free_amounts(node: Node, used: Mapping[str, int], pods: int) -> SchedulerAmounts:
    """What `pods` pods that use so much leave on the node, never below zero; `pods` among it, as one more resource."""
    free = {resource: max(amount - used.get(resource, 0), 0) for resource, amount in node.allocatable.items()}
    free[PODS] = max(node.pods - pods, 0)
    return SchedulerAmounts(free)


@dataclass(frozen=True, slots=True)
class FreeAmounts:
    """Free amounts per resource (`pods` is one), each column in the order of the index."""

    node_index: NodeIndex
    columns: Mapping[str, Column]

    @staticmethod
    def of(node_index: NodeIndex, rows: Sequence[SchedulerAmounts]) -> FreeAmounts:
        resources = sorted({resource for row in rows for resource in row} | {PODS})
        return FreeAmounts(node_index, {name: column([row.get(name, 0) for row in rows]) for name in resources})

    def free(self, resource: str) -> Column:
        """The column of a resource; zeros when no node offers it."""
        found = self.columns.get(resource)
        return np.zeros(len(self.node_index), dtype=np.int64) if found is None else found

    def with_rows(self, node_index: NodeIndex, rows: Iterable[tuple[int, SchedulerAmounts]]) -> FreeAmounts:
        """The same with some nodes' amounts replaced, under an index of the same nodes."""
        columns = {name: values.copy() for name, values in self.columns.items()}
        for i, row in rows:
            for name in row.keys() - columns.keys():
                columns[name] = np.zeros(len(node_index), dtype=np.int64)
            for name, values in list(columns.items()):
                amount = row.get(name, 0)
                if amount > LARGEST:
                    columns[name] = values.astype(object)
                columns[name][i] = amount
        return FreeAmounts(node_index, columns)
