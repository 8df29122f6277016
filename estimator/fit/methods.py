"""The methods that count component sets on nodes; see docs/estimator.md for what each is good for.

- whole sets: set after set, components as given, nodes as given (what Karmada does);
- first-fit-decreasing: the same with the components of a set sorted by size, largest first, and nodes sorted if wished;
- sum and verify: what is free on all matching nodes together, divided by what a set takes, provided that one set fits
  by first-fit-decreasing. Where a quota limits the namespace, the quota's division takes the place of the sum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimator.fit.amounts import spelled
from estimator.fit.claim_match import Mask
from estimator.fit.fitting import Columns, Fit, Wanted, fit_sets, place_once
from estimator.fit.model import NO_LIMIT, Shortfall
from interpreters.core.errors import InputError
from interpreters.core.resources import CPU, MEMORY

Order = NDArray[np.intp]

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


@dataclass(frozen=True, slots=True)
class Counted:
    """How many sets, and why not more: a component without a place, or a sum that runs out."""

    sets: int
    failed: Wanted | None = None
    missing: int = 0
    left: Columns | None = None
    scarce: Shortfall | None = None
    for_quota: bool = False
    """One set fits, and how many is for a quota to say."""


def count_sets(method: Method, free: Columns, set_: Sequence[Wanted], *, quota_decides: Callable[[], bool]) -> Counted:
    """Count whole sets by the method. Where a quota decides, sum and verify only verifies."""
    if method.name == "whole-sets":
        return _counted(set_, fit_sets(free, set_, NO_LIMIT))
    ordered = sorted(set_, key=lambda wanted: -_size(method, wanted.amounts.get(CPU, 0), wanted.amounts.get(MEMORY, 0)))
    order = _node_order(method, free, len(set_[0].admitted))
    columns = {name: values[order] for name, values in free.items()}
    sorted_set = [replace(wanted, admitted=wanted.admitted[order]) for wanted in ordered]
    if method.name == "first-fit-decreasing":
        return _counted(ordered, _put_back(fit_sets(columns, sorted_set, NO_LIMIT), order))
    one = _put_back(place_once(columns, sorted_set), order)
    if not one.sets:
        return _counted(ordered, one)
    return Counted(NO_LIMIT, for_quota=True) if quota_decides() else _sum(free, set_)


def _sum(free: Columns, set_: Sequence[Wanted]) -> Counted:
    """A sum over the nodes that at least one component may use; which component uses what is not asked."""
    anywhere: Mask = np.logical_or.reduce([wanted.admitted for wanted in set_])
    total: dict[str, int] = {}
    for wanted in set_:
        for resource, amount in wanted.amounts.items():
            total[resource] = total.get(resource, 0) + amount * wanted.replicas
    sums = {resource: sum(free[resource][anywhere].tolist()) for resource in total}
    scarcest = min(total, key=lambda resource: (sums[resource] // total[resource], resource))
    sets = sums[scarcest] // total[scarcest]
    wanted_amount = total[scarcest] * (sets + 1)
    amounts = (wanted_amount, sums[scarcest], wanted_amount - sums[scarcest])
    scarce = Shortfall(scarcest, *(spelled(scarcest, amount) for amount in amounts))
    return Counted(min(sets, NO_LIMIT), scarce=scarce)


def _counted(set_: Sequence[Wanted], fit: Fit) -> Counted:
    if fit.failed is None:
        return Counted(fit.sets)
    return Counted(fit.sets, set_[fit.failed], fit.missing, fit.left)


def _put_back(fit: Fit, order: Order) -> Fit:
    """The same fit with its columns in the nodes' own order again."""
    back = np.argsort(order)
    return replace(fit, left={name: values[back] for name, values in fit.left.items()})


def _node_order(method: Method, free: Columns, nodes: int) -> Order:
    if method.nodes == "given":
        return np.arange(nodes)
    nothing = [0] * nodes
    cpus, memories = (free[name].tolist() if name in free else nothing for name in (CPU, MEMORY))
    sizes = [_size(method, cpu, memory) for cpu, memory in zip(cpus, memories, strict=True)]
    sign = -1 if method.nodes == "most-free" else 1
    return np.array(sorted(range(nodes), key=lambda node: sign * sizes[node]), dtype=np.intp)


def _size(method: Method, cpu: int, memory: int) -> int:
    return {"cpu": cpu, "memory": memory, "product": cpu * memory}[method.size]
