"""ResourceQuota: what a namespace may still take, and which pods a quota counts.

Free is hard - used from the quota's *status*, never below zero; `requests.cpu` and `cpu` are the same thing, and the
smaller one counts when a quota names both; `pods` and `count/pods` likewise. `limits.*`, storage claims and other
object counts say nothing of a pod template's requests and are left aside. Scopes are ANDed, as in Kubernetes; one that
a pod template cannot decide is reported, not guessed, and so is a resource whose usage the status does not tell yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from estimator.fit.amounts import PODS, pod_amount
from estimator.fit.api_objects import MetadataShape, QuotaShape, QuotaSpecShape, QuotaStatusShape, shaped
from interpreters.core.errors import InputError, QuantityError
from interpreters.core.quantity import ZERO, Quantity
from interpreters.core.requirements import Component, ComponentRequirements

_NOT_TEMPLATE: Final = ("Terminating", "NotTerminating", "CrossNamespacePodAffinity")
_OTHER_NAMES: Final = ("count/pods",)


@dataclass(frozen=True, slots=True)
class ScopeSelector:
    scope: str
    operator: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Quota:
    """A ResourceQuota as far as estimates care: what is free per resource, for pods in its scopes."""

    namespace: str
    name: str
    free: Mapping[str, Quantity]
    selectors: tuple[ScopeSelector, ...] = ()
    uncounted: tuple[str, ...] = ()
    """Resources with a ceiling, but without a usage in the status."""

    @staticmethod
    def of(quota: Mapping[str, Any]) -> Quota:
        """Read a Kubernetes ResourceQuota object. Raises `InputError`."""
        shape = shaped(quota, QuotaShape)
        metadata, status = shape.metadata or MetadataShape(), shape.status or QuotaStatusShape()
        hard, used = status.hard or {}, status.used or {}
        free: dict[str, Quantity] = {}
        for key, ceiling in hard.items():
            resource = _resource(key)
            if resource is not None and key in used:
                room = max(_amount("hard", key, ceiling) - _amount("used", key, used[key]), ZERO)
                free[resource] = min(free.get(resource, room), room)
        return Quota(
            namespace=metadata.namespace,
            name=metadata.name,
            free=free,
            selectors=tuple(_selectors(shape.spec or QuotaSpecShape())),
            uncounted=tuple(key for key in sorted(hard) if key not in used and _resource(key) is not None),
        )

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


def applies(quota: Quota, requirements: ComponentRequirements | None) -> bool | str:
    """Whether the quota counts a pod like this; or the scope, when the pod template does not tell."""
    undecided = ""
    for selector in quota.selectors:
        verdict = _in_scope(selector, requirements or ComponentRequirements())
        if verdict is None:
            undecided = undecided or selector.scope
        elif not verdict:
            return False
    return undecided or True


def charged(quota: Quota, components: Iterable[Component]) -> dict[str, Quantity]:
    """What one set of the components takes from the quota, per resource the quota limits."""
    total: dict[str, Quantity] = {}
    for component in components:
        if component.replicas > 0 and applies(quota, component.replica_requirements) is True:
            for resource, amount in (component.amounts() | {PODS: Quantity.of(1)}).items():
                if resource in quota.free and amount > ZERO:
                    total[resource] = total.get(resource, ZERO) + pod_amount(resource, amount) * component.replicas
    return total


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The sets one resource of one quota allows."""

    quota: Quota
    resource: str
    sets: int
    wanted: Quantity
    free: Quantity


def tightest(quotas: Sequence[Quota], components: Sequence[Component], assumed: Sequence[Component]) -> Ceiling | None:
    """The lowest ceiling over all quotas, what the assumed components take deducted; None when nothing limits."""
    lowest: Ceiling | None = None
    for quota in quotas:
        taken = charged(quota, assumed)
        for resource, wanted in sorted(charged(quota, components).items()):
            free = max(quota.free[resource] - taken.get(resource, ZERO), ZERO)
            sets = free // wanted
            if lowest is None or sets < lowest.sets:
                lowest = Ceiling(quota, resource, sets, wanted, free)
    return lowest


def doubts(quotas: Sequence[Quota], components: Sequence[Component]) -> list[str]:
    """What kept a quota, or a part of it, out of the number."""
    found = []
    for quota in quotas:
        found += [
            f"quota {quota} does not limit {resource}: its status does not tell the usage yet"
            for resource in quota.uncounted
        ]
        for component in components:
            verdict = applies(quota, component.replica_requirements)
            if isinstance(verdict, str):
                found.append(
                    f"quota {quota} is left aside for {component.name}: whether scope {verdict} holds cannot be told "
                    f"from a pod template"
                )
    return found


def _amount(field: str, key: str, text: str | int | float) -> Quantity:
    try:
        return Quantity.parse(text)
    except QuantityError as error:
        raise InputError(f"status.{field}.{key}: {error}") from None


def _resource(key: str) -> str | None:
    """The resource of a pod's requests that a quota's key limits; None when it limits something else."""
    name = key.removeprefix("requests.")
    if name in (PODS, *_OTHER_NAMES):
        return PODS
    if name in ("cpu", "memory", "ephemeral-storage") or name.startswith("hugepages-"):
        return name
    extended = "/" in name and not name.startswith(("limits.", "count/")) and ".storageclass." not in name
    return name if extended else None


def _selectors(spec: QuotaSpecShape) -> Iterable[ScopeSelector]:
    for scope in spec.scopes or ():
        yield ScopeSelector(scope, "Exists")
    for expression in (spec.scope_selector.match_expressions if spec.scope_selector else None) or ():
        yield ScopeSelector(expression.scope_name, expression.operator, tuple(expression.values or ()))


def _in_scope(selector: ScopeSelector, requirements: ComponentRequirements) -> bool | None:
    """None when the requirements cannot tell."""
    if selector.scope in _NOT_TEMPLATE:
        return None
    if selector.scope in ("BestEffort", "NotBestEffort"):
        amounts = requirements.amounts()
        best_effort = not any(amounts.get(resource, ZERO) > ZERO for resource in ("cpu", "memory"))
        return best_effort == (selector.scope == "BestEffort")
    if selector.scope != "PriorityClass":
        return False
    name = requirements.priority_class_name
    match selector.operator:
        case "In":
            return name in selector.values
        case "NotIn":
            return not name or name not in selector.values
        case "Exists":
            return bool(name)
        case "DoesNotExist":
            return not name
    return False
