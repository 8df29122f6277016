"""Who the nodes are, apart from what is free on them: names, labels and taints, laid out for questions about claims.

An index never changes; a changed label or taint makes a new one. So what was worked out for a claim stays true for the
life of the index, and thousands of nodes that report a heartbeat every few seconds cost nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from estimator.fit.claim_match import ClaimMatch
from estimator.fit.model import Node, Taint

T = TypeVar("T", bound=Hashable)


class Kinds(Generic[T]):
    """One property of all nodes: its distinct values, and which of them each node has. Judged once per value."""

    def __init__(self, values: Iterable[T]) -> None:
        numbers: dict[T, int] = {}
        self.of_node: NDArray[np.intp] = np.array(
            [numbers.setdefault(value, len(numbers)) for value in values], dtype=np.intp
        )
        self.values: tuple[T, ...] = tuple(numbers)

    def spread(self, judged: list[Any], kind: type) -> NDArray[Any]:
        """A judgement per value as a judgement per node."""
        return np.array(judged, dtype=kind)[self.of_node]


class NodeIndex:
    """The nodes in the order in which they are tried."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self.nodes: tuple[Node, ...] = tuple(nodes)
        self.index: dict[str, int] = {node.name: i for i, node in enumerate(self.nodes)}
        self.matches: dict[bytes, ClaimMatch] = {}
        self._labels: dict[str, Kinds[str | None]] = {}

    def __len__(self) -> int:
        return len(self.nodes)

    def label(self, key: str) -> Kinds[str | None]:
        """Each node's value of one label; None where it has none."""
        found = self._labels.get(key)
        if found is None:
            found = self._labels[key] = Kinds(node.labels.get(key) for node in self.nodes)
        return found

    @cached_property
    def barriers(self) -> Kinds[tuple[tuple[Taint, ...], bool]]:
        """Each node's taints, and whether it is closed to new pods."""
        return Kinds((node.taints, node.unschedulable) for node in self.nodes)
