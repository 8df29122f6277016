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
class AffinityPeer:
    """Another binding of the namespace: its groups, and the clusters that it was scheduled to."""

    name: str
    affinity_group: str = ""
    anti_affinity_group: str = ""
    clusters: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class AffinityPeers:
    """The peers that count for one workload: those it belongs together with, those it must keep apart from."""

    together: tuple[AffinityPeer, ...] = ()
    apart: tuple[AffinityPeer, ...] = ()

    def obstacle(self, cluster: str) -> tuple[str, str] | None:
        """Why the cluster is closed to the workload for its peers' sake."""
        for one in self.together:
            if cluster not in one.clusters:
                return "together", f"{one.name} of the same affinity group {one.affinity_group} is not there"
        for one in self.apart:
            if cluster in one.clusters:
                return "apart", f"{one.name} of the same anti-affinity group {one.anti_affinity_group} is there"
        return None


ALONE: Final = AffinityPeers()


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


def peer(binding: Mapping[str, Any]) -> AffinityPeer:
    """A binding as another one's peer."""
    metadata, spec = binding.get("metadata") or {}, binding.get("spec") or {}
    groups = spec.get("workloadAffinityGroups") or {}
    clusters = frozenset(str(target.get("name", "")) for target in spec.get("clusters") or ())
    return AffinityPeer(
        str(metadata.get("name", "")), str(groups.get("affinityGroup", "")), str(groups.get("antiAffinityGroup", "")),
        clusters,
    )  # fmt: skip


def peers_of(name: str, groups: Mapping[str, str], others: Iterable[AffinityPeer]) -> AffinityPeers:
    """Those of the namespace's bindings that count for the binding `name`; one that is nowhere counts for nothing."""
    placed = [one for one in others if one.name != name and one.clusters]
    affinity, anti = groups.get("affinityGroup"), groups.get("antiAffinityGroup")
    return AffinityPeers(
        tuple(one for one in placed if affinity and one.affinity_group == affinity),
        tuple(one for one in placed if anti and one.anti_affinity_group == anti),
    )
