"""Can a cluster that the affinity selects take the workload? Not when it is going, not ready, tainted or lacks the API,
nor when the workload is being evicted from it or other workloads are in the way.

Karmada itself does not look at the Ready condition but taints a cluster that is not ready; a cluster whose object does
not show that taint yet is judged as if it did. A cluster that runs the workload already keeps it in spite of taints and
missing APIs: evicting is not scheduling.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Final

from estimator.fit.model import Taint
from estimator.fit.node_claims import tolerates
from estimator.placement.policy import Cluster, Placement
from estimator.placement.workload_affinity import ALONE, AffinityPeers
from interpreters.core.karmada.api import NOT_READY_TAINT, UNREACHABLE_TAINT
from interpreters.core.kinds import GroupVersionKind

_READY: Final = "Ready"
_IMPLIED: Final = {"False": NOT_READY_TAINT, "Unknown": UNREACHABLE_TAINT}
_KEEPS_AWAY: Final = ("NoSchedule", "NoExecute")

_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})

Obstacle = tuple[str, str]
"""What filters a cluster, in a word, and the details."""


def obstacle(
    cluster: Cluster,
    placement: Placement,
    kind: GroupVersionKind,
    *,
    is_target: bool = False,
    unavailable: Collection[str] = (),
    evicting: Mapping[str, str] = _NOTHING,
    peers: AffinityPeers = ALONE,
) -> Obstacle | None:
    """Why the cluster cannot take the workload; None if it can. `is_target`: it has it already."""
    if cluster.metadata.deletion_timestamp:
        return "deleting", "the cluster is being deleted"
    if cluster.name in unavailable:
        return "unavailable", "failed, what ran there is evicted"
    if cluster.name in evicting:
        return "eviction", evicting[cluster.name]
    missing = _missing_topology(cluster, placement)
    if missing:
        return "topology", f"has no {missing}, which a spread constraint asks for"
    if is_target:
        return None
    return (
        _not_ready(cluster, placement)
        or _tainted(cluster, placement)
        or _without_api(cluster, kind)
        or peers.obstacle(cluster.name)
    )


def lists_apis(cluster: Cluster) -> bool:
    """Whether the object says which APIs there are; without, every API is taken to be enabled."""
    return cluster.status.api_enablements is not None


def _not_ready(cluster: Cluster, placement: Placement) -> Obstacle | None:
    for condition in cluster.status.conditions:
        if condition.type == _READY and condition.status in _IMPLIED:
            taint = Taint(_IMPLIED[condition.status], "", "NoSchedule")
            if not tolerates(placement.cluster_tolerations, taint):
                return "notReady", f"condition Ready is {condition.status}"
    return None


def _tainted(cluster: Cluster, placement: Placement) -> Obstacle | None:
    for taint in cluster.spec.taints:
        if taint.effect in _KEEPS_AWAY and not tolerates(
            placement.cluster_tolerations, Taint(taint.key, taint.value, taint.effect)
        ):
            value = f"={taint.value}" if taint.value else ""
            return "taint", f"taint {taint.key}{value}:{taint.effect} is not tolerated"
    return None


def _without_api(cluster: Cluster, kind: GroupVersionKind) -> Obstacle | None:
    if not lists_apis(cluster):
        return None
    group_version = kind.api_version
    for enabled in cluster.status.api_enablements or ():
        if enabled.group_version == group_version and any(one.kind == kind.kind for one in enabled.resources):
            return None
    return "api", f"{kind} is not enabled"


def _missing_topology(cluster: Cluster, placement: Placement) -> str | None:
    has = {"provider": cluster.spec.provider, "region": cluster.spec.region, "zone": cluster.spec.zones}
    asked = (constraint.spread_by_field for constraint in placement.spread_constraints)
    return next((field for field in asked if field in has and not has[field]), None)
