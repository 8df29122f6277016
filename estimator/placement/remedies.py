"""What would let a cluster take the workload that does not: for each verdict the change that would undo it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from estimator.fit.summary import Summary
from estimator.placement.decision import ClusterVerdict, Demand, GroupReport, Verdict
from estimator.placement.policy import Cluster, ClusterAffinityTerm, Placement
from interpreters.core.karmada.api import NOT_READY_TAINT
from interpreters.core.quantity import ZERO, Quantity
from interpreters.core.resources import PODS


@dataclass(frozen=True, slots=True)
class Circumstance:
    """What a verdict was passed on: the cluster as it was read, the placement, and what is wanted."""

    cluster: Cluster
    document: Mapping[str, Any]
    placement: Placement
    demand: Demand
    held: int = 0
    """Replicas that the cluster has already."""


def remedy(verdict: ClusterVerdict, group: GroupReport, about: Circumstance) -> str:
    """What to change; empty where nothing is wrong."""
    if verdict.verdict is Verdict.CHOSEN:
        return ""
    if verdict.verdict is Verdict.PASSED_OVER:
        return shortage(about, verdict) if group.failure else _passed_over(about.placement)
    term = about.placement.groups[group.position]
    where = f"group {group.name}" if group.name else "clusterAffinity"
    by = _BY_CHANGE.get(verdict.by)
    return by(about, term, where) if by else _ALWAYS_THE_SAME.get(verdict.by, "")


def shortage(about: Circumstance, verdict: ClusterVerdict) -> str:
    """How much of each resource the cluster's summary lacks for all that is wanted, beyond what it holds."""
    wanted = 1 if about.demand.is_whole else about.demand.replicas
    if verdict.available is None or verdict.available >= wanted:
        return ""
    summary = Summary.of(about.document)
    free = summary.free if summary else {}
    lacks = []
    for resource, amount in sorted(_needed(about.demand, wanted - about.held).items()):
        has = free.get(resource, ZERO)
        if amount > has:
            lacks.append(f"{resource} {amount - has} (free {has} of {amount})")
    if lacks:
        return f"free or add {', '.join(lacks)}"
    return "no node has room enough for one pod: free or add a larger node" if summary else "it reports no resources"


def _needed(demand: Demand, count: int) -> dict[str, Quantity]:
    """What so many replicas, or sets, take together, pods included."""
    total: dict[str, Quantity] = {}
    for part in demand.components:
        pods = part.replicas if demand.is_whole else 1
        for resource, amount in (part.amounts() | {PODS: Quantity.of(1)}).items():
            total[resource] = total.get(resource, ZERO) + amount * (pods * count)
    return {resource: amount for resource, amount in total.items() if amount > ZERO}


def _passed_over(placement: Placement) -> str:
    one = placement.spread_by("cluster")
    if one is not None and one.max_groups:
        return f"raise maxGroups of the spread constraint by cluster, now {one.max_groups}"
    return "none needed: others have more room"


def _by_names(about: Circumstance, term: ClusterAffinityTerm, where: str) -> str:
    return f"add {about.cluster.name} to clusterNames of {where}"


def _by_labels(about: Circumstance, term: ClusterAffinityTerm, where: str) -> str:
    wanted = term.label_selector.match_labels if term.label_selector else {}
    lacking = [f"{key}={value}" for key, value in wanted.items() if about.cluster.metadata.labels.get(key) != value]
    if lacking:
        return f"kubectl label cluster {about.cluster.name} {' '.join(lacking)}, or widen labelSelector of {where}"
    return f"widen labelSelector of {where}"


def _by_fields(about: Circumstance, term: ClusterAffinityTerm, where: str) -> str:
    spec = about.cluster.spec
    has = (f"provider {spec.provider or 'none'}", f"region {spec.region or 'none'}",
           f"zones {', '.join(spec.zones) or spec.zone or 'none'}")  # fmt: skip
    return f"widen fieldSelector of {where}: the cluster has {', '.join(has)}"


def _by_exclude(about: Circumstance, term: ClusterAffinityTerm, where: str) -> str:
    return f"take {about.cluster.name} off exclude of {where}"


def _by_taint(about: Circumstance, term: ClusterAffinityTerm, where: str) -> str:
    keys = ", ".join(dict.fromkeys(taint.key for taint in about.cluster.spec.taints))
    return f"tolerate it in clusterTolerations, or take the taint off the cluster ({keys})"


def _by_api(about: Circumstance, term: ClusterAffinityTerm, where: str) -> str:
    return f"install {about.demand.kind} in the cluster: it does not serve it"


_BY_CHANGE: Final[Mapping[str, Callable[[Circumstance, ClusterAffinityTerm, str], str]]] = {
    "clusterNames": _by_names,
    "labelSelector": _by_labels,
    "fieldSelector": _by_fields,
    "exclude": _by_exclude,
    "taint": _by_taint,
    "api": _by_api,
}
_ALWAYS_THE_SAME: Final[Mapping[str, str]] = {
    "notReady": f"repair the cluster, or tolerate {NOT_READY_TAINT}",
    "eviction": "wait for the eviction to end, or remove it from spec.gracefulEvictionTasks",
    "topology": "set that field in the Cluster's spec, or drop the spread constraint",
    "together": "move the other workload there, or take workloadAffinity off the policy",
    "apart": "move the other workload away, or take workloadAffinity off the policy",
    "deleting": "nothing: the cluster is leaving",
}
