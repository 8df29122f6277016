"""Member clusters, placements and questions for the tests of placement, in a line each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from estimator.placement.decision import Availability, Decision, Demand, Verdict
from estimator.placement.policy import Cluster, read_cluster, read_placement
from estimator.placement.scheduling import Question
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.requirements import Component

DEPLOYMENT = GroupVersionKind("apps", "v1", "Deployment")
AGGREGATED = {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"}
DYNAMIC = {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted",
           "weightPreference": {"dynamicWeight": "AvailableReplicas"}}  # fmt: skip
DUPLICATED = {"replicaSchedulingType": "Duplicated"}
ONE_CLUSTER = [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}]


def weighted(**weights: int) -> dict[str, Any]:
    rules = [{"targetCluster": {"clusterNames": [name]}, "weight": weight} for name, weight in weights.items()]
    return {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted",
            "weightPreference": {"staticWeightList": rules}}  # fmt: skip


def cluster(
    name: str,
    *,
    labels: Mapping[str, str] | None = None,
    taints: list[str] | None = None,
    ready: str = "True",
    apis: list[str] | None = None,
    deleting: bool = False,
    **spec: Any,
) -> Cluster:
    """`taints` as `key=value:Effect`; `apis` as `apps/v1 Deployment`, None saying nothing about them."""
    status: dict[str, Any] = {"conditions": [{"type": "Ready", "status": ready}]}
    if apis is not None:
        pairs = [api.split() for api in apis]
        status["apiEnablements"] = [{"groupVersion": version, "resources": [{"kind": kind}]} for version, kind in pairs]
    metadata: dict[str, Any] = {"name": name, "labels": dict(labels or {})}
    if deleting:
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    spec["taints"] = [_taint(text) for text in taints or ()]
    return read_cluster({"metadata": metadata, "spec": spec, "status": status})


def _taint(text: str) -> dict[str, str]:
    pair, _, effect = text.partition(":")
    key, _, value = pair.partition("=")
    return {"key": key, "value": value, "effect": effect}


def groups(**names: list[str]) -> list[dict[str, Any]]:
    return [{"affinityName": name, "clusterNames": clusters} for name, clusters in names.items()]


def question(
    placement: dict[str, Any], clusters: list[Cluster], free: Mapping[str, int], replicas: int = 0, sets: bool = False
) -> Question:
    """Of a Deployment, or of something with two components."""
    parts = (Component("a", 1), Component("b", 2)) if sets else (Component("main", replicas),)
    demand = Demand(DEPLOYMENT, parts)
    return Question(read_placement(placement), clusters, demand, lambda name: _room(free, name))


def _room(free: Mapping[str, int], name: str) -> Availability | None:
    return Availability(free[name], "free cpu") if name in free else None


def shares(decision: Decision) -> dict[str, int | None]:
    return {target.name: target.replicas for target in decision.clusters}


def verdicts(decision: Decision, group: int = 0) -> dict[str, tuple[Verdict, str]]:
    return {one.cluster: (one.verdict, one.by) for one in decision.groups[group].clusters}
