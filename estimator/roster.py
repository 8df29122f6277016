"""Who the nodes are, apart from what is free on them: names, labels and taints, laid out for questions about claims.

A roster never changes; a changed label or taint makes a new one. So what was worked out for a claim stays true for the
roster's life, and thousands of nodes that report a heartbeat every few seconds cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from estimator.model import Node, Taint

if TYPE_CHECKING:
    from estimator.nodes import ClaimMatch


class Roster:
    """The nodes in the order in which they are tried."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self.nodes: tuple[Node, ...] = tuple(nodes)
        self.index: dict[str, int] = {node.name: i for i, node in enumerate(self.nodes)}
        self.matches: dict[bytes, ClaimMatch] = {}
        self._label_values: dict[str, list[str | None]] = {}

    def __len__(self) -> int:
        return len(self.nodes)

    def label_values(self, key: str) -> list[str | None]:
        """Each node's value of one label; None where it has none."""
        found = self._label_values.get(key)
        if found is None:
            found = self._label_values[key] = [node.labels.get(key) for node in self.nodes]
        return found

    @cached_property
    def names(self) -> list[str]:
        return [node.name for node in self.nodes]

    @cached_property
    def barriers(self) -> list[tuple[tuple[Taint, ...], bool]]:
        """Each node's taints, and whether it is closed to new pods. Few differ, so callers judge each kind once."""
        return [(node.taints, node.unschedulable) for node in self.nodes]
