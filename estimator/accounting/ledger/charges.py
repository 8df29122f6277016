"""A charge: what one workload is charged for, and how it changes when the workload is admitted, seen or bound.

A charge is state, never a difference: the same event twice gives the same charge. It has a confirmed part (the object
is there) and a provisional one (it was admitted, but another webhook may have refused it), which expires. While both
stand, each resource is charged at the larger of the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from estimator.accounting.demand import Demand, Part, Target, WorkloadKey
from estimator.accounting.usage import counted_usage, shares
from estimator.quotas.amounts import NanoAmounts, larger, no_amounts, parse_amounts, without_zeros
from estimator.quotas.keys import count_key
from interpreters.core.quantity import NANO

DELETION: Final = "deletion"
"""The source of a charge whose object was deleted and whose binding was not seen to go."""


@dataclass(frozen=True, slots=True)
class Unadmitted:
    """A workload that Karmada asked about and that nothing let in as it was seen. It counts for nothing."""

    workload: WorkloadKey
    demand: Demand
    seen_at: float
    charged: NanoAmounts | None = None
    """What is charged for the workload instead; None when it has no charge at all."""

    @property
    def amounts(self) -> NanoAmounts:
        return one_set_usage(self.demand)


@dataclass(frozen=True, slots=True)
class BindingMark:
    """Which state of its binding a charge knows, to tell an older one from a newer one."""

    uid: str = ""
    created: float | None = None
    version: int | None = None
    """The newest resourceVersion known; at admission that is the one before the change."""


@dataclass(frozen=True, slots=True)
class Charge:
    """What the ledger knows of one workload."""

    workload: WorkloadKey
    owner: WorkloadKey | None = None
    """The controller that made it. It exempts nothing: an audit says when both are counted."""

    uid: str = ""
    """Of the object that is confirmed."""

    provisional_uid: str = ""
    generation: int = 0
    """Of the object that the provisional part was made from."""

    object_created: float | None = None
    object_version: int | None = None
    """The object's resourceVersion that the newest update replaces."""

    binding: BindingMark = BindingMark()
    confirmed: Demand | None = None
    provisional: Demand | None = None
    expires_at: float | None = None
    source: str = ""
    updated_at: float = 0.0
    _amounts: NanoAmounts = field(default_factory=no_amounts, init=False, repr=False, compare=False)

    @property
    def amounts(self) -> NanoAmounts:
        """What is charged: resources, `pods`, and one object of its kind; not to be changed. Raises `QuantityError`."""
        if not self._amounts and self.is_live:  # asked for several times in one admission
            confirmed, provisional = (one_set_usage(demand) for demand in (self.confirmed, self.provisional))
            counted = {count_key(self.workload.group, self.workload.kind): NANO}
            self._amounts.update(larger(confirmed, provisional) | counted)
        return self._amounts

    @property
    def is_live(self) -> bool:
        return self.confirmed is not None or self.provisional is not None

    @property
    def is_leaving(self) -> bool:
        """Whether its object was deleted, and it is charged for what its binding still holds."""
        return self.source == DELETION and self.confirmed is None and self.provisional is not None

    @property
    def is_mixed(self) -> bool:
        """Whether it has both parts and their pods are not all of one priority class."""
        if self.confirmed is None or self.provisional is None:
            return False
        return len({part.priority_class for part in (*self.confirmed.parts, *self.provisional.parts)}) > 1

    @property
    def demand(self) -> Demand:
        """The newest state known."""
        return self.provisional or self.confirmed or Demand()

    def at(self, now: float) -> Charge:
        """The charge once what has expired is gone."""
        if self.expires_at is None or self.expires_at > now:
            return self
        return replace(self, provisional=None, provisional_uid="", expires_at=None)


def admitted(
    charge: Charge, new: Demand, old: Demand | None, *, uid: str = "", generation: int = 0, expires_at: float
) -> Charge:
    """After an admission request. `old` is the object that the API server still holds: proof of what is there."""
    known = replace(charge, generation=generation)
    if charge.is_leaving:  # another of its name comes before the old one's binding has gone
        known = replace(known, confirmed=charge.provisional)
    if old is not None:
        known = replace(known, confirmed=_placed_like(charge.confirmed, old), uid=uid or charge.uid)
    provisional = _placed_like(known.confirmed, new)
    if known.confirmed == provisional and uid in ("", known.uid):
        # Nothing that is charged changes, so there is nothing that could expire.
        return replace(known, provisional=None, provisional_uid="", expires_at=None)
    return replace(known, provisional=provisional, provisional_uid=uid, expires_at=expires_at)


def _kept(charge: Charge, promised: Demand) -> Charge:
    """The charge once what was promised is there."""
    return replace(
        charge,
        confirmed=promised,
        uid=charge.provisional_uid or charge.uid,
        provisional=None,
        provisional_uid="",
        expires_at=None,
    )


def sighted(charge: Charge, demand: Demand, *, uid: str = "", generation: int = 0) -> Charge:
    """After somebody asked what the workload consists of. Anybody may ask, so that shows one thing only: that what was
    admitted is there. It adds nothing to a charge, and takes nothing from it."""
    promised = charge.provisional
    if promised is None or 0 < generation < charge.generation:
        return charge
    if charge.provisional_uid != uid if charge.provisional_uid else not _same(promised, demand):
        return charge  # of another object, or nothing shows that it is this one
    after = _kept(charge, promised)
    return after if after.amounts == charge.amounts else charge


def agrees(charge: Charge, demand: Demand) -> bool:
    """Whether the workload, as it was seen, is what is charged."""
    return any(_same(known, demand) for known in (charge.confirmed, charge.provisional) if known is not None)


def bound(charge: Charge, demand: Demand, *, uid: str = "", mark: BindingMark | None = None) -> Charge:
    """After its binding was seen: from now on what the binding says, or one set while it names no cluster.

    `uid` is of the object that the binding names."""
    known = charge if mark is None else replace(charge, binding=mark)
    promised = charge.provisional
    if promised is not None and promised.parts != demand.parts:
        # An older state was seen; the promised one is still to come.
        return replace(known, confirmed=demand, uid=uid or charge.uid)
    return replace(
        known,
        confirmed=demand,
        uid=uid or charge.provisional_uid or charge.uid,
        provisional=None,
        provisional_uid="",
        expires_at=None,
    )


def filled(
    demand: Demand, charge: Charge, parts: Sequence[Part] | None = None, *, version: int | None = None
) -> Demand:
    """What a binding asks for that says no pods, as that of a whole job does with the feature gate off: the components
    that its script told (`parts`) or that the ledger knows, one set in each cluster.

    `version` is the object's resourceVersion that the binding was made from; it tells an updated object from the one
    before."""
    if demand.parts:
        return demand
    if parts is None:
        is_updated = charge.confirmed is None or (
            None not in (version, charge.object_version) and (version or 0) > (charge.object_version or 0)
        )
        newest = charge.provisional if is_updated and charge.provisional is not None else charge.confirmed
        parts = (newest or charge.demand).parts
    return Demand(components=list(parts), clusters=demand.clusters) if parts else demand


def unbound(charge: Charge, *, expires_at: float) -> Charge:
    """After its binding went: one set again, unless nobody sees the workload any more."""
    left = charge.demand
    one_set = Demand(left.components, left.replicas, left.replica_requirements)
    return replace(
        charge,
        confirmed=None,
        provisional=one_set,
        provisional_uid=charge.provisional_uid or charge.uid,
        expires_at=expires_at,
        binding=BindingMark(),
    )


def deleted(charge: Charge, uid: str, *, expires_at: float) -> Charge:
    """After the object was deleted. A successor of the same name, which has another uid, stays charged.

    What is bound runs until the binding goes. That follows at once, unless a finalizer keeps the object or it is
    deleted with `--cascade=orphan`. So it is charged until then; until `expires_at` if nobody tells of the binding."""
    after = charge
    if not uid or charge.provisional_uid in ("", uid):
        after = replace(after, provisional=None, provisional_uid="", expires_at=None)
    if uid and charge.uid not in ("", uid):
        return after
    held = charge.confirmed
    if held is None or not held.clusters:
        return replace(after, confirmed=None)
    if after.provisional is not None:
        return after  # the successor's binding will say what is there
    return replace(after, confirmed=None, provisional=held, uid="", provisional_uid=uid or charge.uid,
                   expires_at=expires_at, source=DELETION)  # fmt: skip


def is_superseded(charge: Charge, uid: str, created: float | None) -> bool:
    """Whether the charge is of a younger object than this one, which came late."""
    if not uid or uid in (charge.uid, charge.provisional_uid) or not charge.is_live:
        return False
    return created is not None and charge.object_created is not None and created < charge.object_created


def heaviest(demand: Demand, resource: str) -> tuple[Part, int] | None:
    """The component that uses most of a resource, and how much."""
    used = [(share.part, share.amounts.get(resource, 0)) for share in shares(demand, unscheduled_sets=1)]
    return max(used, key=lambda found: found[1], default=None)


def one_set_usage(demand: Demand | None) -> NanoAmounts:
    """What a demand is charged: what its clusters run, or one set while it has none."""
    return no_amounts() if demand is None else counted_usage(demand, unscheduled_sets=1)


def _same(one: Demand, other: Demand) -> bool:
    """Whether two demands ask for the same pods; how amounts are spelled and what components are called aside."""
    return _pods(one) == _pods(other)


def _pods(demand: Demand) -> list[tuple[int, str, NanoAmounts]]:
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
