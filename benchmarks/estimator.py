"""Figures of the estimator: clusters of 100 to 20 000 nodes, answered cold and after a change, and what they weigh."""

from __future__ import annotations

import random
import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterable
from typing import Any

from estimator.fit.estimation import estimate_replicas, estimate_sets
from estimator.fit.model import Estimate
from estimator.fit.state import ClusterState
from interpreters.core.requirements import Component, ComponentRequirements, ReplicaRequirements

Row = tuple[str, float, str, float | None]

SIZES = (100, 1000, 5000, 20_000)
PODS_PER_NODE = 30


def _requirements(cpu: str, memory: str) -> ComponentRequirements:
    return ComponentRequirements(resource_request={"cpu": cpu, "memory": memory})


SET = [
    Component("jobmanager", 1, _requirements("1", "2Gi")),
    Component("taskmanager", 2, _requirements("2", "4Gi")),
]


def _node(number: int) -> dict[str, Any]:
    allocatable = {"cpu": "32", "memory": "128Gi", "pods": "110", "ephemeral-storage": "100Gi"}
    labels = {"kubernetes.io/hostname": f"node-{number}", "topology.kubernetes.io/zone": "abc"[number % 3]}
    return {
        "kind": "Node",
        "metadata": {"name": f"node-{number}", "labels": labels},
        "status": {"allocatable": allocatable},
    }


def _pod(number: int, node: str, cpu: str, memory: str) -> dict[str, Any]:
    containers = [{"name": "main", "image": "x", "resources": {"requests": {"cpu": cpu, "memory": memory}}}]
    metadata = {"name": f"pod-{number}", "namespace": f"team-{number % 50}"}
    spec = {"nodeName": node, "containers": containers}
    return {"kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": "Running"}}


def _pods(nodes: int, rng: random.Random) -> Iterable[dict[str, Any]]:
    for number in range(nodes * PODS_PER_NODE):
        cpu = rng.choice(["50m", "100m", "250m", "500m", "1"])
        memory = rng.choice(["64Mi", "128Mi", "512Mi", "1Gi", "3Gi"])
        yield _pod(number, f"node-{rng.randrange(nodes)}", cpu, memory)


def _median(ask: Callable[[], Estimate], times: int = 7) -> float:
    """Milliseconds."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        ask()
        taken.append((time.perf_counter() - start) * 1000)
    return statistics.median(taken)


def _first(ask: Callable[[], Estimate]) -> float:
    return _median(ask, 1)


def _sized(nodes: int) -> Iterable[Row]:
    budget = 50.0 * max(nodes, 1000) / 5000
    rng = random.Random(nodes)
    empty = ClusterState(_node(number) for number in range(nodes))

    def ask_empty() -> Estimate:
        return estimate_sets(empty, SET, "default")

    yield f"{nodes} empty nodes, sets, first answer", _first(ask_empty), "ms", None
    yield f"{nodes} empty nodes, sets, next answer", _median(ask_empty), "ms", budget

    busy = ClusterState(_node(number) for number in range(nodes))
    start = time.perf_counter()
    for pod in _pods(nodes, rng):
        busy.upsert_pod(pod)
    each = (time.perf_counter() - start) / (nodes * PODS_PER_NODE) * 1e6
    yield f"{nodes * PODS_PER_NODE} pods taken in, each", each, "µs", None

    def ask_busy() -> Estimate:
        return estimate_sets(busy, SET, "default")

    yield f"{nodes} busy nodes, sets, first answer", _first(ask_busy), "ms", None
    yield f"{nodes} busy nodes, sets, next answer", _median(ask_busy), "ms", budget

    def ask_changed() -> Estimate:
        number = rng.randrange(nodes * PODS_PER_NODE)
        busy.upsert_pod(_pod(number, f"node-{rng.randrange(nodes)}", "750m", "700Mi"))
        return estimate_sets(busy, SET, "default")

    yield f"{nodes} busy nodes, sets, after a pod moved", _median(ask_changed), "ms", budget
    one = ReplicaRequirements(resource_request={"cpu": "1", "memory": "2Gi"})
    yield f"{nodes} busy nodes, replicas", _median(lambda: estimate_replicas(busy, one)), "ms", budget


def _weight(nodes: int) -> Row:
    tracemalloc.start()
    state = ClusterState(_node(number) for number in range(nodes))
    for pod in _pods(nodes, random.Random(1)):
        state.upsert_pod(pod)
    state.view()
    weight = tracemalloc.get_traced_memory()[0] / 1e6
    tracemalloc.stop()
    return f"{nodes} nodes and {nodes * PODS_PER_NODE} pods in memory", weight, "MB", 500.0


def run() -> Iterable[Row]:
    """What, value, unit, budget."""
    for nodes in SIZES:
        yield from _sized(nodes)
    yield _weight(5000)


if __name__ == "__main__":
    for what, value, unit, budget in run():
        print(f"{what:55} {value:10.2f} {unit:3} {'' if budget is None else f'(budget {budget:g})'}")
