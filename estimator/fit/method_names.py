"""The ways to count component sets, as users name them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from interpreters.core.errors import InputError

METHODS: Final = ("whole-sets", "first-fit-decreasing", "sum-and-verify")
SIZES: Final = ("cpu", "memory", "product")
NODE_ORDERS: Final = ("given", "most-free", "least-free")


@dataclass(frozen=True, slots=True)
class Method:
    """`size` orders the replicas (largest first), `nodes` the nodes; both only matter to the decreasing methods."""

    name: str = "whole-sets"
    size: str = "cpu"
    nodes: str = "given"

    def __post_init__(self) -> None:
        for value, allowed, what in (
            (self.name, METHODS, "method"),
            (self.size, SIZES, "replica size"),
            (self.nodes, NODE_ORDERS, "node order"),
        ):
            if value not in allowed:
                raise InputError(f'unknown {what} "{value}": expected {", ".join(allowed)}')


WHOLE_SETS: Final = Method()
