"""The (group, version, kind, operation) tuples to register, and for each kind what follows from them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from interpreters.catalog import Catalog, Offer
from interpreters.core.division import Division
from interpreters.core.errors import InputError
from interpreters.core.karmada.answers import answered_by_karmada, is_native
from interpreters.core.karmada.releases import NEWEST, Release
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import OPERATIONS, Operation
from interpreters.scan import Origin
from webhook.registration.rules import (
    COUNTING,
    NO_WISHES,
    REPLICAS,
    REVISION,
    Asked,
    Kinds,
    Proof,
    Wishes,
    better_left_to_karmada,
    corrections,
    declared_division,
    missing,
    reasons_against,
)

NATIVE: Final = "Karmada's own code answers for it and would be replaced; it is for estimates and audits only"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Something the catalog offers and the configuration leaves out."""

    kind: GroupVersionKind | None
    operation: Operation | None
    reason: str
    bundled: bool = False  # what a bundled script offers is left out by its own declaration: nobody has to act

    def __str__(self) -> str:
        return " ".join(str(part) for part in (self.kind or "any kind", self.operation) if part) + f": {self.reason}"


@dataclass(frozen=True, slots=True)
class KindPlan:
    """What is registered for one kind, what is left to Karmada, and what that means."""

    kind: GroupVersionKind
    division: Division | None
    operations: tuple[Operation, ...]
    left_to_karmada: tuple[Operation, ...] = ()
    on_request: tuple[Operation, ...] = ()
    counted_by_karmada: bool = True  # also without us
    corrected: Mapping[Operation, str] = field(default_factory=dict)  # what is wrong with Karmada's own answers

    def __str__(self) -> str:
        declared = f" ({self.division})" if self.division else ""
        parts = [", ".join(map(str, self.operations))] if self.operations else []
        parts += [f"Karmada's own {one} {wrong}" for one, wrong in self.corrected.items() if one in self.operations]
        if self.left_to_karmada:
            parts.append(f"Karmada answers {', '.join(map(str, self.left_to_karmada))} itself")
        if self.on_request:
            parts.append(f"--all adds {', '.join(map(str, self.on_request))}")
        return f"{self.kind}{declared}: {'; '.join(parts) or 'nothing'}. {self.consequence}"

    @property
    def consequence(self) -> str:
        """What Karmada does with workloads of the kind, in one sentence."""
        if REVISION in self.operations and REPLICAS in self.operations:
            if self.division is Division.WHOLE:
                return _COUNTED
            if not self.counted_by_karmada:
                return _DIVIDED_BY_US
            return _DIVIDED_INSTEAD if self.division is Division.KARMADA else _DIVIDED
        if not set(COUNTING).isdisjoint(self.operations):
            return _WHOLE_COUNTED if REPLICAS in self.operations else _WHOLE
        return _UNTOUCHED


_DIVIDED: Final = "A Divided policy shares its replicas out over clusters, with the feature gate on or off."
_DIVIDED_BY_US: Final = f"{_DIVIDED} Karmada alone cannot divide it, and sends all of them to every cluster."
_DIVIDED_INSTEAD: Final = f"{_DIVIDED} They are what interp counts, no longer what Karmada counts."
_WHOLE: Final = (
    "It goes whole to every chosen cluster; with MultiplePodTemplatesScheduling on, Divided with a cluster spread of "
    "1..1 chooses one that has room for all of it, or none."
)
_WHOLE_COUNTED: Final = f"{_WHOLE} With the gate off its pods are counted, and nothing is written into it."
_COUNTED: Final = (
    f"{_WHOLE} With the gate off a Divided policy counts its pods, so a spread of 1..1 checks that they fit and "
    "clusters without a share get nothing; no share is written into the object."
)
_UNTOUCHED: Final = "How Karmada counts and divides it does not change."


@dataclass(frozen=True, slots=True)
class Plan:
    """All kinds, and what was left out for a reason that its author should know."""

    kinds: tuple[KindPlan, ...]
    refusals: tuple[Refusal, ...] = ()

    @property
    def tuples(self) -> Mapping[GroupVersionKind, tuple[Operation, ...]]:
        return {one.kind: one.operations for one in self.kinds if one.operations}

    def rules(self) -> list[dict[str, Any]]:
        """Grouped. A rule means every combination of its lists, so only kinds of one group and version share one."""
        together: dict[tuple[str, str, tuple[Operation, ...]], list[str]] = defaultdict(list)
        for kind, operations in sorted(self.tuples.items()):
            together[kind.group, kind.version, operations].append(kind.kind)
        return [
            {
                "apiGroups": [group],
                "apiVersions": [version],
                "kinds": kinds,
                "operations": [operation.name for operation in operations],
            }
            for (group, version, operations), kinds in together.items()
        ]


def tells_pods(catalog: Catalog, kind: GroupVersionKind) -> bool:
    """Whether some script says what pods an object of the kind stands for, or would if it were not broken."""
    return any(catalog.concerns(kind, operation) for operation in COUNTING if operation is not REVISION)


def plan_registration(
    catalog: Catalog,
    proof: Proof,
    *,
    wishes: Wishes = NO_WISHES,
    release: Release = NEWEST,
    wanted_kinds: Kinds = lambda kind: True,
    wanted_operations: Collection[Operation] = OPERATIONS,
) -> Plan:
    """What of the catalog is registered. Raises `InputError` for a wish that cannot be granted."""
    kinds: list[KindPlan] = []
    refusals = [
        Refusal(None, operation, f"{offers[0].script.name} answers for every kind, but a rule must name its kinds")
        for (kind, operation), offers in catalog.offers.items()
        if kind is None
    ]
    for kind in filter(wanted_kinds, catalog.kinds):
        if is_native(kind):
            _insist(kind, NATIVE, wishes)
            offers = catalog.operations(kind)
            bundled = all(offer.source.origin is Origin.BUNDLED for _, offer in offers)
            refusals.append(Refusal(kind, None, NATIVE, bundled))
            continue
        offered = {operation: offer for operation, offer in catalog.operations(kind) if operation in wanted_operations}
        asked = Asked(kind, offered, answered_by_karmada(kind, release))
        against = dict(reasons_against(asked, wishes, proof))
        _insist(kind, _ungranted(kind, offered, against, wishes), wishes)
        left = better_left_to_karmada(asked, wishes)
        refusals += [
            Refusal(kind, operation, reason, bundled=offered[operation].source.origin is Origin.BUNDLED)
            for operation, reason in against.items()
        ]
        allowed = tuple(operation for operation in offered if operation not in against and operation not in left)
        spared = [operation for operation in offered if operation in left and operation not in against]
        by_karmada = tuple(operation for operation in spared if operation in asked.by_karmada)
        on_request = tuple(operation for operation in spared if operation not in asked.by_karmada)
        corrected = {one: wrong for offer in offered.values() for one, wrong in corrections(offer).items()}
        corrected = {operation: wrong for operation, wrong in corrected.items() if operation in asked.by_karmada}
        counted = REPLICAS in asked.by_karmada
        kinds.append(KindPlan(kind, _division(offered), allowed, by_karmada, on_request, counted, corrected))
    return Plan(tuple(kinds), tuple(refusals))


def _division(offered: Mapping[Operation, Offer]) -> Division | None:
    try:
        return declared_division(offered)
    except InputError:
        return None


def _ungranted(
    kind: GroupVersionKind, offered: Collection[Operation], against: Mapping[Operation, str], wishes: Wishes
) -> str | None:
    """Why a kind cannot be counted or divided as wished, None if it can: either takes counting and revising."""
    if wishes.divide(kind) and wishes.count(kind):
        return "it can be divided (--divide) or counted as a whole (--count), not both"
    absent = next((operation for operation in (REPLICAS, REVISION) if operation not in offered), None)
    if absent is not None:
        return missing(absent)
    return against.get(REPLICAS)


def _insist(kind: GroupVersionKind, ungranted: str | None, wishes: Wishes) -> None:
    """A wish that cannot be granted is an error, not a line among many."""
    for flag, wished in (("--divide", wishes.divide), ("--count", wishes.count)):
        if wished(kind) and ungranted is not None:
            raise InputError(f"{flag} {kind.kind}: {ungranted}")
