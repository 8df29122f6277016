"""Is a placement one that Karmada accepts? Every rule with the path of the field it is about."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from estimator.placement.policy import (
    ClusterAffinity,
    ClusterAffinityTerm,
    Placement,
    SpreadConstraint,
    WorkloadAffinity,
)

_NAME: Final = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_DNS: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_FIELDS: Final = ("provider", "region", "zone")


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that a field breaks."""

    field: str
    detail: str

    def __str__(self) -> str:
        return f"{self.field}: {self.detail}"


def violations(placement: Placement, root: str = "spec.placement") -> list[Violation]:
    """Everything that Karmada's own admission would refuse; empty when the placement is fine."""
    return list(_placement(placement, root))


def _placement(placement: Placement, root: str) -> Iterator[Violation]:
    groups = placement.cluster_affinities
    if placement.cluster_affinity is not None and groups is not None:
        yield Violation(root, "clusterAffinity and clusterAffinities exclude each other; keep one")
    follows_capacity = bool(placement.replica_scheduling and placement.replica_scheduling.follows_capacity)
    for i, group in enumerate(groups or ()):
        if group.overflow_affinities is not None and not follows_capacity:
            where = f"{root}.clusterAffinities[{i}].overflowAffinities"
            yield Violation(where, "needs replicas divided by capacity: Aggregated, or a dynamic weight")
    if placement.cluster_affinity is not None:
        yield from _affinity(placement.cluster_affinity, f"{root}.clusterAffinity")
    yield from _groups(groups or [], f"{root}.clusterAffinities")
    yield from _spread(placement.spread_constraints, f"{root}.spreadConstraints")
    if placement.workload_affinity is not None:
        yield from _workload_affinity(placement.workload_affinity, f"{root}.workloadAffinity")
    for i, toleration in enumerate(placement.cluster_tolerations):
        if toleration.operator in ("Lt", "Gt"):
            yield Violation(f"{root}.clusterTolerations[{i}].operator", "expected Exists or Equal")


def _affinity(affinity: ClusterAffinity, where: str) -> Iterator[Violation]:
    for requirement in affinity.field_selector.match_expressions if affinity.field_selector else ():
        if requirement.key not in _FIELDS:
            yield Violation(f"{where}.fieldSelector", f"key {requirement.key!r}: expected one of {', '.join(_FIELDS)}")
            return
        if requirement.operator not in ("In", "NotIn"):
            yield Violation(f"{where}.fieldSelector", f"operator {requirement.operator!r}: expected In or NotIn")
            return


def _groups(groups: list[ClusterAffinityTerm], where: str) -> Iterator[Violation]:
    seen: set[str] = set()
    for i, group in enumerate(groups):
        yield from (Violation(f"{where}[{i}]", problem) for problem in label_key_problems(group.affinity_name))
        if group.affinity_name in seen:
            yield Violation(where, f"duplicate name {group.affinity_name!r}; each group needs its own")
        seen.add(group.affinity_name)
        yield from _affinity(group, f"{where}[{i}]")
        if group.overflow_affinities is not None:
            yield from _overflow(group, f"{where}[{i}].overflowAffinities")


def _overflow(group: ClusterAffinityTerm, where: str) -> Iterator[Violation]:
    if group.is_empty:
        yield Violation(where, "needs an affinity in the group itself")
    seen = {group.affinity_name}
    for i, overflow in enumerate(group.overflow_affinities or ()):
        name = overflow.affinity_name
        yield from (Violation(f"{where}[{i}].affinityName", problem) for problem in label_key_problems(name))
        if name in seen:
            yield Violation(f"{where}[{i}].affinityName", f"duplicate name {name!r} in this group")
        seen.add(name)
        yield from _affinity(overflow, f"{where}[{i}]")


def _spread(constraints: list[SpreadConstraint], where: str) -> Iterator[Violation]:
    for i, constraint in enumerate(constraints):
        if constraint.spread_by_field and constraint.spread_by_label:
            yield Violation(f"{where}[{i}]", "spreadByField and spreadByLabel exclude each other")
        if constraint.min_groups < 0:
            yield Violation(f"{where}[{i}]", f"minGroups: expected 0 or more, got {constraint.min_groups}")
        if constraint.max_groups < 0:
            yield Violation(f"{where}[{i}]", f"maxGroups: expected 0 or more, got {constraint.max_groups}")
        if 0 < constraint.max_groups < constraint.min_groups:
            yield Violation(
                f"{where}[{i}]", f"maxGroups {constraint.max_groups} is below minGroups {constraint.min_groups}"
            )
    fields = Counter(constraint.spread_by_field for constraint in constraints if constraint.spread_by_field)
    for name, count in fields.items():
        if count > 1:
            yield Violation(where, f"{count} constraints by {name}; one is allowed")
    if fields and "cluster" not in fields:
        yield Violation(where, "spreading by a field needs a constraint by cluster beside it")


def _workload_affinity(affinity: WorkloadAffinity, where: str) -> Iterator[Violation]:
    for name, group in (("affinity", affinity.affinity), ("antiAffinity", affinity.anti_affinity)):
        for problem in label_key_problems(group.group_by_label_key) if group else ():
            yield Violation(f"{where}.{name}.groupByLabelKey", problem)
    if affinity.affinity and affinity.affinity == affinity.anti_affinity:
        yield Violation(where, "affinity and antiAffinity must not use the same groupByLabelKey")


def label_key_problems(key: str) -> Iterator[str]:
    """What keeps a text from being a label key, one line for each rule, as Kubernetes counts them."""
    prefix, slash, name = key.rpartition("/")
    if slash:
        if not prefix:
            yield "the part before the slash is empty"
        elif len(prefix) > 253 or not _DNS.fullmatch(prefix):
            yield f"the part before the slash, {prefix!r}, is no lower-case DNS name"
    if "/" in prefix:
        yield "more than one slash"
        return
    if not name:
        yield "the name is empty"
    elif len(name) > 63:
        yield f"the name has {len(name)} characters; 63 are allowed"
    if not _NAME.fullmatch(name):
        yield f"the name {name!r} must start and end with a letter or digit, with - _ . between"
