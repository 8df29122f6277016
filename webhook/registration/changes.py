"""What registering changes in a binding that exists: what Karmada will write there the next time its object changes.

Karmada asks for components if the feature gate is on and anybody offers them, otherwise for replicas if anybody offers
those; a binding that lost or gained replicas is divided otherwise than before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from interpreters.comparison import compare
from interpreters.core.operations import Operation
from interpreters.core.wire import Reply
from webhook.registration.rules import COMPONENTS, REPLICAS


@dataclass(frozen=True, slots=True)
class Offers:
    """Who answers for the kind of a binding: before and after registering, and besides us."""

    before: Collection[Operation]
    after: Collection[Operation]
    asked_first: Mapping[Operation, str] = field(default_factory=dict)  # who is asked before us, in words
    asked_next: Mapping[Operation, str] = field(default_factory=dict)  # who is asked where we do not answer

    def counted_before(self, gate: bool) -> Operation | None:
        return _counted({*self.before, *self.asked_first, *self.asked_next}, gate)

    def counted_after(self, gate: bool) -> Operation | None:
        return _counted({*self.after, *self.asked_first, *self.asked_next}, gate)

    def is_ours(self, operation: Operation, registered: Collection[Operation]) -> bool:
        return operation in registered and operation not in self.asked_first

    def answerer(self, operation: Operation) -> str:
        """Who answers an operation that is not ours."""
        return self.asked_first.get(operation) or self.asked_next[operation]


def _counted(offered: Collection[Operation], gate: bool) -> Operation | None:
    return COMPONENTS if gate and COMPONENTS in offered else REPLICAS if REPLICAS in offered else None


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What becomes of a binding."""

    what: str
    undivided: bool = False  # it is divided now and would no longer be


def change_of(
    binding: Mapping[str, Any], offers: Offers, *, gate: bool, answer: Callable[[Operation], Reply]
) -> Foreseen | None:
    """What becomes of the binding, None if it stays as it is. `answer` asks our script about the binding's object."""
    spec = binding.get("spec") or {}
    before, after = offers.counted_before(gate), offers.counted_after(gate)
    if after is not None and not offers.is_ours(after, offers.after):
        if before is after and not offers.is_ours(after, offers.before):
            return None
        return Foreseen(f"{offers.answerer(after)} answers {after} for it, no longer interp")
    held = _fields(spec.get("replicas"), spec.get("replicaRequirements"), spec.get("components"))
    wanted = _fields_of(answer(after)) if after is not None else {}
    differences = [f"{one.path} {one.want} → {one.got}" for one in compare(held, wanted)]
    if not differences:
        return None
    shares = _shares(spec)
    undivided = len(shares) > 1 and after is not REPLICAS
    placed = ""
    if undivided:
        where = ", ".join(f"{name} {share}" for name, share in shares.items())
        placed = f"it is divided now ({where}) and would go whole to each of these clusters; "
    elif after is REPLICAS and not spec.get("replicas") and _is_divided_by(spec.get("placement")):
        where = ", ".join(str(one.get("name")) for one in spec.get("clusters") or ())
        placed = f"it goes whole to {where} now and its replicas would be divided; " if where else ""
    elif after is COMPONENTS and not held:
        placed = "it stays whole and where it is, and its pods are told; "
    return Foreseen(f"{placed}{'; '.join(differences[:3])}{' …' if len(differences) > 3 else ''}", undivided)


def _fields_of(reply: Reply) -> dict[str, Any]:
    fields = msgspec.to_builtins((reply.replicas, reply.replica_requirements, reply.components))
    return _fields(*fields)


def _fields(replicas: Any, requirements: Any, components: Any) -> dict[str, Any]:
    """What a binding says of its workload. Karmada leaves out a number that is 0, and adds a namespace of its own."""
    needed = {name: value for name, value in (requirements or {}).items() if name != "namespace"}
    fields = {"replicas": replicas or None, "replicaRequirements": needed or None, "components": components or None}
    return {name: value for name, value in fields.items() if value is not None}


def _shares(spec: Mapping[str, Any]) -> dict[str, int]:
    return {str(one.get("name")): one["replicas"] for one in spec.get("clusters") or () if one.get("replicas")}


def _is_divided_by(placement: Mapping[str, Any] | None) -> bool:
    scheduling = (placement or {}).get("replicaScheduling") or {}
    return scheduling.get("replicaSchedulingType") == "Divided"
