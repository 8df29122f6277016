"""The scheduling priority of a workload: the value of the PriorityClass that its policy names.

Of the sources that a policy may name Karmada resolves `KubePriorityClass` alone; with another one, or with a class that
is not there, it writes no binding. Bindings of higher priority leave the scheduler's queue first; equal ones in the
order in which they came.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from estimator.placement.release_checks import PRIORITY_SOURCE
from interpreters.core.errors import InputError
from interpreters.core.karmada.releases import Release

BUILT_IN: Final = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
"""Classes that every API server has."""


@dataclass(frozen=True, slots=True)
class Priority:
    """What a policy asks for. `problem` says why it cannot be told; the value is 0 then."""

    value: int = 0
    is_set: bool = False
    problem: str = ""


NO_PRIORITY: Final = Priority()


def read_classes(documents: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """The PriorityClasses by name, those that are always there included. Raises `InputError` for another kind."""
    classes = dict(BUILT_IN)
    for document in documents:
        if document.get("kind") != "PriorityClass":
            raise InputError(f"expected PriorityClasses of scheduling.k8s.io/v1, got {document.get('kind')}")
        name, value = (document.get("metadata") or {}).get("name"), document.get("value", 0)
        if not isinstance(value, int) or isinstance(value, bool):
            raise InputError(f"PriorityClass {name}: value: expected a whole number, got {value!r:.40}")
        classes[str(name)] = value
    return classes


def priority_of(policy: Mapping[str, Any], classes: Mapping[str, int], release: Release) -> Priority:
    """The priority that the policy gives to what it selects."""
    wish = (policy.get("spec") or {}).get("schedulePriority")
    if not isinstance(wish, Mapping) or not release.schedules_by_priority:
        return NO_PRIORITY
    source, name = wish.get("priorityClassSource"), str(wish.get("priorityClassName", ""))
    if source != PRIORITY_SOURCE:
        return Priority(problem=f"spec.schedulePriority: Karmada resolves {PRIORITY_SOURCE} only, not {source}")
    if name not in classes:
        return Priority(problem=f'spec.schedulePriority: no PriorityClass "{name}" was given; 0 is assumed')
    return Priority(classes[name], is_set=True)
