"""Workloads that a policy's `workloadAffinity` keeps together or apart, by the value of a label.

Karmada does this for ResourceBindings of one namespace, and only with the feature gate WorkloadAffinity, which is off
by default. The groups stand in the binding as `key=value`. A cluster that has the workload already keeps it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from estimator.placement.policy import WorkloadAffinity


@dataclass(frozen=True, slots=True)
class Companion:
    """Another binding of the namespace: its groups, and the clusters that it was scheduled to."""

    name: str
    affinity_group: str = ""
    anti_affinity_group: str = ""
    clusters: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Company:
    """The companions that count for one workload: those it belongs together with, those it must keep apart from."""

    together: tuple[Companion, ...] = ()
    apart: tuple[Companion, ...] = ()

    def obstacle(self, cluster: str) -> tuple[str, str] | None:
        """Why the cluster is closed to the workload for its companions' sake."""
        for one in self.together:
            if cluster not in one.clusters:
                return "together", f"{one.name} of the same affinity group {one.affinity_group} is not there"
        for one in self.apart:
            if cluster in one.clusters:
                return "apart", f"{one.name} of the same anti-affinity group {one.anti_affinity_group} is there"
        return None


ALONE: Final = Company()


def affinity_groups(affinity: WorkloadAffinity | None, labels: Mapping[str, str]) -> dict[str, str]:
    """`spec.workloadAffinityGroups` of the binding of an object with these labels; empty when it is in no group."""
    if affinity is None:
        return {}
    terms = (("affinityGroup", affinity.affinity), ("antiAffinityGroup", affinity.anti_affinity))
    return {
        field: f"{term.group_by_label_key}={labels[term.group_by_label_key]}"
        for field, term in terms
        if term is not None and term.group_by_label_key in labels
    }


def companion(binding: Mapping[str, Any]) -> Companion:
    """A binding as another one's companion."""
    metadata, spec = binding.get("metadata") or {}, binding.get("spec") or {}
    groups = spec.get("workloadAffinityGroups") or {}
    clusters = frozenset(str(target.get("name", "")) for target in spec.get("clusters") or ())
    return Companion(
        str(metadata.get("name", "")), str(groups.get("affinityGroup", "")), str(groups.get("antiAffinityGroup", "")),
        clusters,
    )  # fmt: skip


def company_of(name: str, groups: Mapping[str, str], others: Iterable[Companion]) -> Company:
    """Those of the namespace's bindings that count for the binding `name`; one that is nowhere counts for nothing."""
    placed = [one for one in others if one.name != name and one.clusters]
    affinity, anti = groups.get("affinityGroup"), groups.get("antiAffinityGroup")
    return Company(
        tuple(one for one in placed if affinity and one.affinity_group == affinity),
        tuple(one for one in placed if anti and one.anti_affinity_group == anti),
    )
