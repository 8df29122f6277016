"""Component sets on the free amounts of nodes: from columns of amounts to the packer's rows and back.

Before packing, what cannot matter is evened out, so that nearly equal nodes become equal: nodes that take no component
at all are left out, common factors of the amounts divided away, and, node by node, resources that cannot run out before
another one does are levelled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import gcd
from typing import Any

import numpy as np

from estimator.fit.claim_match import Mask
from estimator.fit.free_amounts import LARGEST, Column, column
from estimator.fit.packing import Demand, pack
from interpreters.core.resources import PODS

Columns = Mapping[str, Column]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A component's pods: how many in a set, what each takes (`pods: 1` included, no zeros), where they may go."""

    name: str
    replicas: int
    amounts: dict[str, int]
    """In the unit of the columns that it is fitted into."""

    admitted: Mask

    @staticmethod
    def of(name: str, replicas: int, amounts: Mapping[str, int], admitted: Mask) -> Wanted:
        positive = {resource: amount for resource, amount in sorted(amounts.items()) if amount > 0}
        return Wanted(name, replicas, positive | {PODS: 1}, admitted)


@dataclass(frozen=True, slots=True)
class Fit:
    """How many whole sets fit; what is left when the next one fails, and which component then finds no place."""

    sets: int
    left: Columns
    failed: int | None
    missing: int


def capacity(columns: Columns, wanted: Wanted) -> Column:
    """How many pods of the component each node takes, were it alone."""
    room: Any = None
    for resource, amount in wanted.amounts.items():
        quotient = _divided(_column(columns, resource, len(wanted.admitted)), amount)
        room = quotient if room is None else np.minimum(room, quotient)
    return np.where(wanted.admitted, room, 0)


def place_once(columns: Columns, set_: Sequence[Wanted]) -> Fit:
    """Place one set, first fit: `sets` is 1 and `left` without it, or 0 and `left` without the part that fits."""
    left = dict(columns)
    for number, wanted in enumerate(set_):
        room = np.minimum(capacity(left, wanted), wanted.replicas).astype(np.int64)
        before = np.cumsum(room) - room
        take = np.clip(wanted.replicas - before, 0, room)
        left = _without(left, wanted, take)
        placed = int(take.sum())
        if placed < wanted.replicas:
            return Fit(0, left, number, wanted.replicas - placed)
    return Fit(1, left, None, 0)


def place_all(columns: Columns, wanted: Wanted) -> tuple[int, Columns]:
    """How many pods of one component fit on all nodes together, and what they leave."""
    room = capacity(columns, wanted)
    return sum(room.tolist()), _without(columns, wanted, room)


def fit_sets(columns: Columns, set_: Sequence[Wanted], limit: int) -> Fit:
    """Place whole sets one after the other, each pod on the first node that takes it, at most `limit` sets."""
    size = len(set_[0].admitted)
    fits = [capacity(columns, wanted) > 0 for wanted in set_]
    kept = np.flatnonzero(np.logical_or.reduce(fits))
    names = sorted({resource for wanted in set_ for resource in wanted.amounts})
    units = [gcd(*(wanted.amounts.get(resource, 0) for wanted in set_)) for resource in names]
    free = [_divided(_column(columns, name, size)[kept], unit) for name, unit in zip(names, units, strict=True)]
    needs = [[wanted.amounts.get(name, 0) // unit for name, unit in zip(names, units, strict=True)] for wanted in set_]
    free = _levelled(free, needs)
    demands = [
        Demand(wanted.replicas, tuple(need), mask[kept].astype(np.uint8).tobytes())
        for wanted, need, mask in zip(set_, needs, fits, strict=True)
    ]
    packed = pack([amounts.tolist() for amounts in free], demands, limit)
    left = dict(columns)
    for name, unit, amounts, remaining in zip(names, units, free, packed.left, strict=True):
        left[name] = _column(columns, name, size).copy()
        left[name][kept] -= _times(amounts - column(remaining), unit)
    return Fit(packed.sets, left, packed.failed, packed.missing)


def _levelled(free: Sequence[Column], needs: Sequence[Sequence[int]]) -> list[Column]:
    """Give each node the largest amount of a resource that cannot run out there, so that such nodes look the same.

    What cannot run out is packed all the same: what is left of it belongs to the reasons why the next pod has no place.
    """
    scarce = [np.ones(len(amounts), dtype=np.bool_) for amounts in free]
    for other in range(len(free)):
        for one in range(len(free)):
            if one != other and scarce[other].any():
                scarce[other] &= ~(scarce[one] & _covers(free, needs, one, other))
    return [np.where(mask, amounts, amounts.max(initial=0)) for mask, amounts in zip(scarce, free, strict=True)]


def _covers(free: Sequence[Column], needs: Sequence[Sequence[int]], one: int, other: int) -> Mask:
    """The nodes where any pods that find enough of `one` find enough of `other` as well."""
    covered = np.ones(len(free[one]), dtype=np.bool_)
    for need in needs:
        if need[other]:
            most = max(int(free[one].max(initial=1)) * need[other], int(free[other].max(initial=1)) * need[one])
            if not need[one] or most > LARGEST:
                return np.zeros_like(covered)
            covered &= free[one] * need[other] <= free[other] * need[one]
    return covered


def _column(columns: Columns, resource: str, size: int) -> Column:
    found = columns.get(resource)
    return np.zeros(size, dtype=np.int64) if found is None else found


def _without(columns: Columns, wanted: Wanted, take: Column) -> dict[str, Column]:
    amounts = wanted.amounts.items()
    return {**columns, **{name: _column(columns, name, len(take)) - _times(take, amount) for name, amount in amounts}}


def _divided(amounts: Column, by: int) -> Column:
    """How often `by` goes into each; an amount that 64 bits cannot hold goes into none that they can."""
    if by > LARGEST and amounts.dtype != object:
        return np.zeros_like(amounts)
    return amounts // by


def _times(counts: Column, amount: int) -> Column:
    """Counts that `_divided` gave, times the amount again, so never more than what was divided."""
    if amount > LARGEST and counts.dtype != object:
        return np.zeros_like(counts)
    return counts * amount
