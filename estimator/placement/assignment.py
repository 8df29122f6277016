"""How many replicas each chosen cluster gets: duplicated, divided by static or dynamic weights, or aggregated.

Divided by capacity keeps what runs already: more replicas are added to it, fewer are taken off in proportion. A fresh
assignment forgets what runs and counts its room as free.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from estimator.placement.affinity import matches
from estimator.placement.decision import Demand, Failure, FailureReason, Target
from estimator.placement.division import Rounding, divide
from estimator.placement.policy import Placement
from estimator.placement.spread import Candidate


@dataclass(frozen=True, slots=True)
class Sharing:
    """How to share out: by which policy, rounding how, and whether what runs already counts."""

    placement: Placement
    demand: Demand
    rounding: Rounding = "largest-remainder"
    fresh: bool = False

    def divide(self, total: int, weights: dict[str, int]) -> dict[str, int]:
        return divide(total, weights, self.rounding, self.demand.uid)


def assign(chosen: Sequence[Candidate], sharing: Sharing, *, in_tiers: bool = False) -> list[Target] | Failure:
    """The targets, in the order of the clusters chosen; one with no replicas is left out."""
    demand = sharing.demand
    if demand.is_whole or not demand.components:
        return [Target(one.name) for one in chosen]
    shares = _overflowing(chosen, sharing) if in_tiers else _shares(chosen, demand.replicas, sharing)
    if isinstance(shares, Failure):
        return shares
    return [Target(one.name, shares[one.name]) for one in chosen if shares.get(one.name, 0) > 0]


def _shares(chosen: Sequence[Candidate], replicas: int, sharing: Sharing) -> dict[str, int] | Failure:
    match sharing.placement.strategy:
        case "Duplicated":
            return {one.name: replicas for one in chosen}
        case "StaticWeight":
            return sharing.divide(replicas, _static_weights(chosen, sharing.placement))
    return _by_capacity(chosen, replicas, sharing)


def _static_weights(chosen: Sequence[Candidate], placement: Placement) -> dict[str, int]:
    """The largest weight that names a cluster; equal ones when no cluster has any."""
    preference = placement.replica_scheduling and placement.replica_scheduling.weight_preference
    rules = preference.static_weight_list if preference else []
    weights = {
        one.name: max((rule.weight for rule in rules if matches(one.cluster, rule.target_cluster)), default=0)
        for one in chosen
    }
    return weights if any(weight > 0 for weight in weights.values()) else dict.fromkeys(weights, 1)


def _by_capacity(chosen: Sequence[Candidate], replicas: int, sharing: Sharing) -> dict[str, int] | Failure:
    in_order = sorted(chosen, key=lambda one: -1 if one.position is None else one.position)
    held = {one.name: one.held for one in in_order if one.held > 0}
    running = sum(held.values())
    if sharing.fresh:
        return _divided(chosen, replicas, {one.name: one.available for one in chosen}, set(), sharing)
    if running == replicas:
        return held
    if running > replicas:
        return _divided(chosen, replicas, held, set(), sharing)
    more = _divided(chosen, replicas - running, {one.name: one.free for one in chosen}, set(held), sharing)
    if isinstance(more, Failure):
        return more
    return {one.name: held.get(one.name, 0) + more.get(one.name, 0) for one in chosen}


def _divided(
    chosen: Sequence[Candidate], replicas: int, room: dict[str, int], first: set[str], sharing: Sharing
) -> dict[str, int] | Failure:
    """Replicas in proportion to the room; aggregated: in as few clusters as hold them, `first` before others."""
    if sum(room.values()) < replicas:
        where = f"{len(room)} cluster{'s' if len(room) != 1 else ''}"
        short = f"{replicas} replicas wanted, room for {sum(room.values())} in {where}"
        return Failure(FailureReason.UNSCHEDULABLE, short)
    if sharing.placement.strategy == "Aggregated":
        room = _fewest(room, replicas, first)
    shares = sharing.divide(replicas, room)
    return {one.name: shares.get(one.name, 0) for one in chosen}


def _fewest(room: dict[str, int], replicas: int, first: set[str]) -> dict[str, int]:
    taken: dict[str, int] = {}
    for name in sorted(room, key=lambda name: (name not in first, -room[name])):
        if sum(taken.values()) >= replicas:
            break
        taken[name] = room[name]
    return taken


def _overflowing(chosen: Sequence[Candidate], sharing: Sharing) -> dict[str, int] | Failure:
    """The group's own clusters as far as they have room, then each overflow affinity in turn."""
    left = sharing.demand.replicas
    shares: dict[str, int] = {}
    for tier in sorted({one.overflow for one in chosen}):
        members = [one for one in chosen if one.overflow == tier]
        part = min(left, sum(one.available for one in members))
        got = _shares(members, part, sharing)
        if isinstance(got, Failure):
            return got
        shares |= got
        left -= part
    if left > 0:
        room = sharing.demand.replicas - left
        wanted = f"{sharing.demand.replicas} replicas wanted"
        return Failure(FailureReason.UNSCHEDULABLE, f"{wanted}, room for {room} with all overflow groups")
    return shares
