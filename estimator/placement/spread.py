"""Which of the clusters that could take a workload do: the spread constraints by cluster, region, zone and provider.

Clusters stand in an order, best first: the group's own before overflow, those that run the workload already, most free,
name. By cluster the first ones are taken, and exchanged from the end for the roomiest of the others until what is
wanted fits. By region the best combination of regions with clusters enough is taken; each gives its best cluster, and
the rest is filled up in order. Zone and provider are treated like region (Karmada 1.18 only leaves
out clusters that have none); of several such constraints the first of region, provider, zone decides. Static weights
name the clusters themselves, so constraints do not count for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from estimator.placement.combination import Place, best_combination
from estimator.placement.decision import Demand, Failure, FailureReason
from estimator.placement.policy import Cluster, Placement, SpreadConstraint

TOPOLOGY: Final = ("region", "provider", "zone")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A cluster that could take the workload."""

    cluster: Cluster
    free: int
    """Replicas or sets that it takes beyond what it has."""

    held: int = 0
    position: int | None = None
    """Its place in `spec.clusters` until now; None when it does not have the workload."""

    overflow: int = 0

    @property
    def is_target(self) -> bool:
        return self.position is not None

    @property
    def name(self) -> str:
        return self.cluster.name

    @property
    def available(self) -> int:
        return self.free + self.held


def ranked(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Best first."""
    return sorted(candidates, key=lambda one: (one.overflow, not one.is_target, -one.available, one.name))


def choose(candidates: Iterable[Candidate], placement: Placement, demand: Demand) -> list[Candidate] | Failure:
    """The clusters that the spread constraints let take part."""
    order = ranked(candidates)
    if not placement.spread_constraints or placement.strategy == "StaticWeight":
        return order
    by_cluster = placement.spread_by("cluster")
    for field in TOPOLOGY:
        constraint = placement.spread_by(field)
        if constraint is not None:
            return _by_topology(order, field, constraint, by_cluster or SpreadConstraint("cluster"), placement, demand)
    return order if by_cluster is None else _by_cluster(order, by_cluster, _wanted(placement, demand), demand)


def _wanted(placement: Placement, demand: Demand) -> int | None:
    """How much the chosen clusters must have free together; None when it does not matter."""
    if placement.strategy == "Duplicated":
        return None
    return int(placement.takes_one_cluster) if demand.is_whole else demand.replicas


def _by_cluster(
    order: list[Candidate], constraint: SpreadConstraint, wanted: int | None, demand: Demand
) -> list[Candidate] | Failure:
    if len(order) < constraint.least:
        return _too_few("clusters", len(order), constraint)
    count = constraint.most(len(order))
    chosen, others = order[:count], order[count:]
    for last in reversed(range(count)):
        if wanted is None or _room(chosen) >= wanted:
            break
        roomiest = max(others, key=lambda one: one.available, default=None)
        if roomiest is not None and roomiest.available > chosen[last].available:
            others[others.index(roomiest)], chosen[last] = chosen[last], roomiest
    if wanted is not None and _room(chosen) < wanted:
        what = "no cluster has" if count == 1 else f"no {count} clusters have"
        unit = demand.unit if wanted > 1 else demand.unit.removesuffix("s")
        roomiest = max(order, key=lambda one: one.available)
        room = f"; the roomiest, {roomiest.name}, has {roomiest.available}" if count == 1 else ""
        return Failure(FailureReason.SCHEDULER_ERROR, f"{what} room for {wanted} {unit}{room}")
    return chosen


def _by_topology(
    order: list[Candidate], field: str, constraint: SpreadConstraint, by_cluster: SpreadConstraint,
    placement: Placement, demand: Demand,
) -> list[Candidate] | Failure:  # fmt: skip
    places: dict[str, list[Candidate]] = {}
    for candidate in order:
        for place in _places(candidate.cluster, field):
            places.setdefault(place, []).append(candidate)
    if len(places) < constraint.least:
        return _too_few(f"{field}s", len(places), constraint)
    offers = [
        Place(name, len(members), _score(members, constraint, by_cluster, placement, demand))
        for name, members in places.items()
    ]
    taken = best_combination(offers, constraint.least, constraint.most(len(places)), by_cluster.least)
    members = [places[place.name] for place in taken]
    first = {one.name: one for one in (place[0] for place in members)}
    rest = ranked({one.name: one for place in members for one in place if one.name not in first}.values())
    if not taken or len(first) + len(rest) < by_cluster.least:
        most = constraint.most(len(places))
        lack = f"no {most} {field}s have the {by_cluster.least} clusters that minGroups by cluster asks for"
        return Failure(FailureReason.SCHEDULER_ERROR, lack)
    count = max(by_cluster.most(len(first) + len(rest)), len(first))
    return [*first.values(), *rest[: count - len(first)]]


def _places(cluster: Cluster, field: str) -> Sequence[str]:
    if field == "zone":
        return cluster.spec.zones
    return [cluster.spec.region if field == "region" else cluster.spec.provider]


def _score(
    members: list[Candidate], constraint: SpreadConstraint, by_cluster: SpreadConstraint,
    placement: Placement, demand: Demand,
) -> int:  # fmt: skip
    """How good a region is: what it can take of its part, then how many of its clusters hold the workload (percent)."""
    if placement.strategy == "Duplicated":
        roomy = [one for one in members if one.available >= demand.replicas]
        return 1000 * len(roomy) + _locality(roomy)
    part = -(-demand.replicas // constraint.least)
    least = max(by_cluster.least, constraint.least)
    room = 0
    for count, member in enumerate(members, 1):
        room += member.available
        if count >= least and room >= part:
            return 1000 * part + _locality(members[:count])
    return 1000 * min(room, part) + _locality(members)


def _locality(members: Sequence[Candidate]) -> int:
    return 100 * sum(one.is_target for one in members) // len(members) if members else 0


def _room(candidates: Iterable[Candidate]) -> int:
    return sum(one.available for one in candidates)


def _too_few(what: str, count: int, constraint: SpreadConstraint) -> Failure:
    return Failure(
        FailureReason.SCHEDULER_ERROR, f"{count} {what} could take it, minGroups asks for {constraint.least}"
    )
