"""Why a quota's status says something else than the bindings add up to: which bindings make the difference.

Karmada's webhook adds to `overallUsed` what a binding grows by, and its controller counts afresh now and then. So a
wrong status is one that lacks a binding, has one twice, or still counts what was evicted or taken off its clusters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from msgspec import Struct

from estimator.accounting.demand import BindingSpec, Demand, Target
from estimator.accounting.usage import counted_usage
from estimator.quotas.amounts import NanoAmounts, total_of

_MOST_KEPT: Final = 100_000  # bindings of all namespaces: what is kept must not grow with the estate
_MOST_SHARED: Final = 4096  # amounts that are kept once: very many bindings use one of very few


class Contribution(Struct, frozen=True, gc=False):
    """What one binding adds, and what a status that is behind may still count of it. Many are kept, so the garbage
    collector does not look through them."""

    workload: str
    used: NanoAmounts
    is_told: bool
    """Whether the binding itself says its pods; Karmada counts nothing for one that does not."""

    left: tuple[tuple[str, NanoAmounts], ...] = ()
    """What the clusters hold that it is being evicted from."""

    waiting: NanoAmounts | None = None
    """One set, of a binding without clusters."""


@dataclass(slots=True)
class Contributions:
    """The first bindings that came, by namespace."""

    most: int = _MOST_KEPT
    kept: int = 0
    cut: set[str] = field(default_factory=set)
    """Namespaces of which bindings were left out."""

    by_namespace: dict[str, list[Contribution]] = field(default_factory=dict)
    _shared: dict[tuple[tuple[str, int], ...], NanoAmounts] = field(default_factory=dict)

    def add(self, namespace: str, workload: str, spec: BindingSpec, used: NanoAmounts, *, is_told: bool) -> None:
        if self.kept >= self.most:
            self.cut.add(namespace)
            return
        self.kept += 1
        waiting = None if spec.clusters else counted_usage(spec, unscheduled_sets=1)
        left = tuple(held_elsewhere(spec)) if spec.graceful_eviction_tasks else ()
        found = Contribution(workload, self._once(used), is_told, left, waiting)
        self.by_namespace.setdefault(namespace, []).append(found)

    def _once(self, amounts: NanoAmounts) -> NanoAmounts:
        """The same amounts as an object that others may have, too. Nobody changes it."""
        key = tuple(amounts.items())
        if len(self._shared) >= _MOST_SHARED:
            return self._shared.get(key, amounts)
        return self._shared.setdefault(key, amounts)


def held_elsewhere(spec: BindingSpec) -> Iterator[tuple[str, NanoAmounts]]:
    """What the clusters that a binding is being evicted from still hold of it; no sum has that in it."""
    for task in spec.graceful_eviction_tasks or ():
        target = Target(task.from_cluster, task.replicas or 0)
        there = Demand(spec.components, spec.replicas, spec.replica_requirements, [target])
        yield task.from_cluster, counted_usage(there)


class Cause(NamedTuple):
    """One thing that makes a status differ, and by how much ours is then more than it."""

    words: str
    amounts: NanoAmounts


def causes_of(contributions: Iterable[Contribution]) -> Iterator[Cause]:
    """What could be behind a difference, the likeliest first."""
    untold = []
    for one in contributions:
        if not one.is_told:
            untold.append(one)
            continue
        for cluster, amounts in one.left:
            yield Cause(
                f"the status still counts {one.workload} in {cluster}, which it is evicted from", _negative(amounts)
            )
        if one.waiting is not None:
            yield Cause(
                f"the status still counts {one.workload}, which has no cluster any more", _negative(one.waiting)
            )
        if one.used:
            yield Cause(f"the status lacks {one.workload}", one.used)
            yield Cause(f"the status has {one.workload} twice", _negative(one.used))
    if untold:
        names = f"{untold[0].workload}" if len(untold) == 1 else f"{len(untold)} bindings such as {untold[0].workload}"
        yield Cause(
            f"Karmada counts nothing for {names}, whose binding says no pods", total_of(one.used for one in untold)
        )


def explained(difference: NanoAmounts, causes: Iterable[Cause]) -> Sequence[Cause]:
    """One or two causes that make exactly this difference (ours less the status's); nothing when there are none."""
    resources = sorted(difference)
    goal = tuple(difference[resource] for resource in resources)
    found: dict[tuple[int, ...], Cause] = {}
    for cause in causes:
        found.setdefault(tuple(cause.amounts.get(resource, 0) for resource in resources), cause)
    if not any(goal):
        return ()
    if goal in found:
        return (found[goal],)
    for vector, cause in found.items():
        rest = tuple(whole - part for whole, part in zip(goal, vector, strict=True))
        if any(vector) and rest != vector and rest in found:
            return (cause, found[rest])
    return ()


def _negative(amounts: NanoAmounts) -> NanoAmounts:
    return NanoAmounts({resource: -nano for resource, nano in amounts.items()})
