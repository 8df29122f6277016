"""Scheduling: a decision over a thousand clusters, every group tried, every cluster estimated."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable

from estimator.clusters.once import KnownCluster
from estimator.placement.decision import Demand
from estimator.placement.policy import Placement, read_cluster, read_placement
from estimator.placement.scheduling import Question, decide
from interp.estimates import Workload
from interp.verbs.schedule.decisions import Member, estimating
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.requirements import Component, ComponentRequirements

Row = tuple[str, float, str, float | None]
CLUSTERS, GROUPS, RUNS = 1000, 10, 5
NEEDS = ComponentRequirements(resource_request={"cpu": "1", "memory": "2Gi"})
KIND = GroupVersionKind("apps", "v1", "Deployment")
DIVIDED = {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"}
ONE = [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}]
REGIONS = [{"spreadByField": "region", "minGroups": 5, "maxGroups": 10}, {"spreadByField": "cluster", "minGroups": 50}]
MODELS = [
    {"grade": grade, "ranges": [{"name": "cpu", "min": 2**grade}, {"name": "memory", "min": f"{2**grade * 4}Gi"}]}
    for grade in range(9)
]


def run() -> Iterable[Row]:
    size = f"{CLUSTERS} clusters x {GROUPS} groups"
    full, tight, roomy = ([_cluster(i, free) for i in range(CLUSTERS)] for free in (0, 8, 64))
    modelled = [{**one, "spec": {**one["spec"], "resourceModels": MODELS}} for one in tight]
    web, flink = [Component("main", 5000, NEEDS)], [Component("a", 1, NEEDS), Component("b", 10, NEEDS)]
    yield f"{size}, all groups fail, replicas", _decision(full, _placement(), web, False), "ms", 1000
    yield f"{size}, all groups fail, sets", _decision(tight, _placement(ONE), flink, False), "ms", 1000
    yield f"{size}, the same with 27 model nodes each", _decision(modelled, _placement(ONE), flink, False), "ms", 1000
    yield f"{CLUSTERS} clusters, the first group wins", _decision(roomy, _placement(), web, True), "ms", 1000
    yield f"{CLUSTERS} clusters, 50 in 10 of 40 regions", _decision(roomy, _placement(REGIONS), web, True), "ms", 1000


def _decision(clusters: list[dict], placement: Placement, components: list[Component], scheduled: bool) -> float:
    members = [Member(read_cluster(one), KnownCluster(one["metadata"]["name"], None, one)) for one in clusters]
    workload = Workload("apps/v1", "Deployment", "shop", "web", components)
    demand = Demand(KIND, tuple(components))

    def once() -> None:
        question = Question(placement, [one.cluster for one in members], demand, estimating(workload, members))
        assert decide(question).scheduled is scheduled

    return _median(once)


def _placement(spread: list[dict] | None = None) -> Placement:
    """Every cluster is in every group, each group selecting in another way."""
    names = [f"member-{i:04}" for i in range(CLUSTERS)]
    groups = [{"affinityName": f"group-{i}", **_selection(i, names)} for i in range(GROUPS)]
    placement = {"clusterAffinities": groups, "spreadConstraints": spread or [], "replicaScheduling": DIVIDED}
    return read_placement(placement)


def _selection(i: int, names: list[str]) -> dict:
    return [
        {"clusterNames": names},
        {"labelSelector": {"matchExpressions": [{"key": "tier", "operator": "In", "values": ["gold", "iron"]}]}},
        {"fieldSelector": {"matchExpressions": [{"key": "region", "operator": "NotIn", "values": ["moon"]}]}},
    ][i % 3]


def _cluster(i: int, free: int) -> dict:
    modelings = [{"grade": grade, "count": 3} for grade in range(9)]
    apis = [{"groupVersion": f"group{n}.example.io/v1", "resources": [{"kind": "Thing"}] * 5} for n in range(20)]
    deployments = {"groupVersion": "apps/v1", "resources": [{"kind": "Deployment"}]}
    summary = {"allocatable": {"cpu": str(free), "memory": "512Gi", "pods": "1000"}, "allocatableModelings": modelings}
    return {
        "metadata": {"name": f"member-{i:04}", "labels": {"tier": "gold"}},
        "spec": {"provider": "cloud", "region": f"region-{i % 40}", "zones": ["a"]},
        "status": {
            "conditions": [{"type": "Ready", "status": "True"}],
            "apiEnablements": [*apis, deployments],
            "resourceSummary": summary,
        },
    }


def _median(what: Callable[[], None]) -> float:
    took = []
    for _ in range(RUNS):
        start = time.perf_counter()
        what()
        took.append((time.perf_counter() - start) * 1000)
    return statistics.median(took)
