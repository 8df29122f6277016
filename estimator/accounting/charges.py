"""A charge: what one workload is charged for, and how it changes when the workload is admitted, seen or bound.

A charge is state, never a difference: the same event twice gives the same charge. It has a confirmed part (the object
is there) and a provisional one (it was admitted, but another webhook may have refused it), which expires. While both
stand, each resource is charged at the larger of the two.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from estimator.accounting.allowances import count_key
from estimator.accounting.amounts import Amounts, larger, parse_amounts, without_zeros
from estimator.accounting.demand import Demand, Part, Target, WorkloadKey
from estimator.accounting.usage import counted_usage, shares
from interpreters.core.quantity import NANO


@dataclass(frozen=True, slots=True)
class Unadmitted:
    """A workload that Karmada asked about and that nothing let in as it was seen. It counts for nothing."""

    workload: WorkloadKey
    demand: Demand
    seen_at: float
    charged: Amounts | None = None
    """What is charged for the workload instead; None when it has no charge at all."""

    @property
    def amounts(self) -> Amounts:
        return _amounts(self.demand)


@dataclass(frozen=True, slots=True)
class Charge:
    """What the ledger knows of one workload."""

    workload: WorkloadKey
    owner: WorkloadKey | None = None
    """The controller that made it; while that one is charged, this one is not charged again."""

    uid: str = ""
    generation: int = 0
    """Of the object that the provisional part was made from."""

    confirmed: Demand | None = None
    provisional: Demand | None = None
    expires_at: float | None = None
    source: str = ""
    updated_at: float = 0.0

    @property
    def amounts(self) -> Amounts:
        """What is charged: resources, `pods`, and one object of its kind. Raises `QuantityError`."""
        confirmed, provisional = (_amounts(demand) for demand in (self.confirmed, self.provisional))
        counted = {count_key(self.workload.group, self.workload.kind): NANO} if self.is_live else {}
        return larger(confirmed, provisional) | counted

    @property
    def is_live(self) -> bool:
        return self.confirmed is not None or self.provisional is not None

    @property
    def demand(self) -> Demand:
        """The newest state known."""
        return self.provisional or self.confirmed or Demand()

    def at(self, now: float) -> Charge:
        """The charge once what has expired is gone."""
        if self.expires_at is None or self.expires_at > now:
            return self
        return replace(self, provisional=None, expires_at=None)


def admitted(charge: Charge, new: Demand, old: Demand | None, *, generation: int, expires_at: float) -> Charge:
    """After an admission request. `old` is the object that the API server still holds: proof of what is there."""
    confirmed = charge.confirmed
    if old is not None:
        confirmed = _placed_like(charge.confirmed, old)
    provisional = _placed_like(confirmed, new)
    if confirmed == provisional:  # nothing that is charged changes, so there is nothing that could expire
        return replace(charge, confirmed=confirmed, provisional=None, expires_at=None, generation=generation)
    return replace(charge, confirmed=confirmed, provisional=provisional, expires_at=expires_at, generation=generation)


def sighted(charge: Charge, demand: Demand, *, uid: str = "", generation: int = 0) -> Charge:
    """After somebody asked what the workload consists of. Anybody may ask, so that shows one thing only: that what was
    admitted is there. It adds nothing to a charge, and takes nothing from it."""
    promised = charge.provisional
    if promised is None or 0 < generation < charge.generation:
        return charge
    if charge.uid != uid if charge.uid else not _same(promised, demand):
        return charge  # of another object, or nothing shows that it is this one
    after = replace(charge, confirmed=promised, provisional=None, expires_at=None)
    return after if after.amounts == charge.amounts else charge


def agrees(charge: Charge, demand: Demand) -> bool:
    """Whether the workload, as it was seen, is what is charged."""
    return any(_same(known, demand) for known in (charge.confirmed, charge.provisional) if known is not None)


def bound(charge: Charge, demand: Demand) -> Charge:
    """After its binding was seen: from now on what the binding says, or one set while it names no cluster."""
    promised = charge.provisional
    if promised is not None and promised.parts != demand.parts:
        return replace(charge, confirmed=demand)  # an older state was seen; the promised one is still to come
    return replace(charge, confirmed=demand, provisional=None, expires_at=None)


def unbound(charge: Charge, *, expires_at: float) -> Charge:
    """After its binding went: one set again, unless nobody sees the workload any more."""
    left = charge.demand
    one_set = Demand(left.components, left.replicas, left.replica_requirements)
    return replace(charge, confirmed=None, provisional=one_set, expires_at=expires_at)


def heaviest(demand: Demand, resource: str) -> tuple[Part, int] | None:
    """The component that uses most of a resource, and how much."""
    used = [(share.part, share.amounts.get(resource, 0)) for share in shares(demand, unscheduled_sets=1)]
    return max(used, key=lambda found: found[1], default=None)


def _amounts(demand: Demand | None) -> Amounts:
    return {} if demand is None else counted_usage(demand, unscheduled_sets=1)


def _same(one: Demand, other: Demand) -> bool:
    """Whether two demands ask for the same pods; how amounts are spelled and what components are called aside."""
    return _pods(one) == _pods(other)


def _pods(demand: Demand) -> list[tuple[int, str, Amounts]]:
    return [(part.replicas, part.priority_class, without_zeros(parse_amounts(part.request))) for part in demand.parts]


def _placed_like(known: Demand | None, demand: Demand) -> Demand:
    """The demand on the clusters that are known: as many sets, or the replicas shared out as they were."""
    if known is None or not known.clusters or demand.clusters:
        return demand
    parts = demand.parts
    if known.components or len(parts) != 1:
        return Demand(components=parts, clusters=known.clusters)
    replicas = parts[0].replicas
    targets = known.clusters
    if all(target.replicas == known.replicas for target in targets):
        placed = [Target(target.name, replicas) for target in targets]
    else:
        placed = _shared_out(replicas, targets)
    return Demand(replicas=replicas, replica_requirements=parts[0].replica_requirements, clusters=placed)


def _shared_out(replicas: int, targets: list[Target]) -> list[Target]:
    before = sum(target.replicas for target in targets)
    if not before:
        return [Target(targets[0].name, replicas), *(Target(target.name) for target in targets[1:])]
    shares_now = [replicas * target.replicas // before for target in targets]
    left = replicas - sum(shares_now)
    return [
        Target(target.name, share + (1 if place < left else 0))
        for place, (target, share) in enumerate(zip(targets, shares_now, strict=True))
    ]
