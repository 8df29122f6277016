"""ResourceQuota: what a namespace may still take, and which pods a quota counts.

Free is hard - used from the quota's *status*, never below zero; `requests.cpu` and `cpu` are the same thing, and the
smaller one counts when a quota names both; `pods` and `count/pods` likewise. `limits.*`, storage claims and other
object counts say nothing of a pod template's requests and are left aside. The object is read
in `estimator/quotas`; a scope that a pod template cannot decide is reported, not guessed, and so is a resource whose
usage the status does not tell yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from estimator.fit.amounts import pod_amount
from estimator.quotas.amounts import no_amounts
from estimator.quotas.keys import read_key
from estimator.quotas.objects import NATIVE, read_quota
from estimator.quotas.scopes import PodClass, Scope, covered, is_best_effort
from interpreters.core.quantity import ZERO, Quantity
from interpreters.core.requirements import Component, ComponentRequirements
from interpreters.core.resources import PODS


@dataclass(frozen=True, slots=True)
class FreeQuota:
    """A ResourceQuota as far as estimates care: what is free per resource, for pods in its scopes."""

    namespace: str
    name: str
    free: Mapping[str, Quantity]
    scopes: tuple[Scope, ...] = ()
    uncounted: tuple[str, ...] = ()
    """Resources with a ceiling, but without a usage in the status."""

    @staticmethod
    def of(quota: Mapping[str, Any]) -> FreeQuota:
        """Read a Kubernetes ResourceQuota object. Raises `InputError`."""
        read = read_quota(quota, NATIVE)
        hard, used = read.enforced or {}, read.reported or no_amounts()
        free: dict[str, Quantity] = {}
        uncounted = []
        for key, ceiling in sorted(hard.items()):
            resource = read_key(key).requested
            if resource is None:
                continue
            if key not in used:
                uncounted.append(key)
                continue
            room = max(ceiling - Quantity(used[key]), ZERO)
            free[resource] = min(free.get(resource, room), room)
        return FreeQuota(read.namespace, read.name, free, read.scopes, tuple(uncounted))

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


def applies(quota: FreeQuota, requirements: ComponentRequirements | None) -> bool | str:
    """Whether the quota counts a pod like this; or the scope, when the pod template does not tell."""
    wanted = requirements or ComponentRequirements()
    pod = PodClass(
        wanted.priority_class_name,
        is_best_effort({resource: amount.nano for resource, amount in wanted.amounts().items()}),
    )
    verdict = covered(quota.scopes, pod)
    return verdict if verdict is not None else next(scope.name for scope in quota.scopes if not scope.is_decided)


def charged(quota: FreeQuota, components: Iterable[Component]) -> dict[str, Quantity]:
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

    quota: FreeQuota
    resource: str
    sets: int
    wanted: Quantity
    free: Quantity


def tightest(
    quotas: Sequence[FreeQuota], components: Sequence[Component], assumed: Sequence[Component]
) -> Ceiling | None:
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


def doubts(quotas: Sequence[FreeQuota], components: Sequence[Component]) -> list[str]:
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
