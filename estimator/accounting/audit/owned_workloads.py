"""Workloads that a controller made from another one.

In Karmada's control plane nothing makes children, so a child that is there is propagated by itself: both it and its
owner are counted, and an audit says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from estimator.accounting.audit.findings import Finding, finding
from estimator.accounting.demand import WorkloadKey
from interpreters.core.kinds import GroupVersionKind


@dataclass(slots=True)
class OwnedWorkloads:
    """Which workload controls which, both by their text, and who of them is counted."""

    owners: Mapping[str, str] = field(default_factory=dict)
    counted: set[str] = field(default_factory=set)
    members: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.members = frozenset({*self.owners, *self.owners.values()})

    def findings(self) -> Iterator[Finding]:
        """One for each that is counted beside its owner."""
        for child, owner in sorted(self.owners.items()):
            if child in self.counted and owner in self.counted:
                evidence = f"{owner} controls it and is propagated as well; both are counted"
                yield finding("child-counted", child, evidence)


def owners_of(objects: Iterable[Mapping[str, Any]]) -> OwnedWorkloads:
    """Read off the objects themselves."""
    owners = {}
    for obj in objects:
        workload = WorkloadKey.of(dict(obj))
        for reference in (obj.get("metadata") or {}).get("ownerReferences") or ():
            if reference.get("controller"):
                kind = GroupVersionKind.parse(str(reference.get("apiVersion", "")), str(reference.get("kind", "")))
                owner = WorkloadKey(kind.group, kind.kind, workload.namespace, str(reference.get("name", "")))
                owners[str(workload)] = str(owner)
    return OwnedWorkloads(owners)
