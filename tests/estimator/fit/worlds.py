"""Short ways to write clusters and workloads down in tests, as the Kubernetes objects they stand for."""

from __future__ import annotations

from typing import Any

import msgspec

from estimator.fit.state import ClusterState
from interpreters.core.requirements import Component, ReplicaRequirements

Object = dict[str, Any]


def node(name: str, cpu: str = "4", memory: str = "16Gi", pods: str = "110", **more: Any) -> Object:
    """`labels`, `taints`, `unschedulable` and `extra` (more allocatable resources) as keywords."""
    spec = {key: more[key] for key in ("taints", "unschedulable") if key in more}
    allocatable = {"cpu": cpu, "memory": memory, "pods": pods, **more.get("extra", {})}
    metadata = {"name": name, "labels": more.get("labels", {})}
    return {"kind": "Node", "metadata": metadata, "spec": spec, "status": {"allocatable": allocatable}}


def pod(name: str, on: str | None, phase: str = "Running", namespace: str = "default", **requests: str) -> Object:
    spec: Object = {"containers": [{"name": "main", "resources": {"requests": requests}}]}
    if on:
        spec["nodeName"] = on
    return {
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
        "status": {"phase": phase},
    }


def quota(name: str, hard: Object, used: Object | None = None, namespace: str = "default", **spec: Any) -> Object:
    status = {"hard": hard, "used": dict.fromkeys(hard, "0") | (used or {})}
    metadata = {"name": name, "namespace": namespace}
    return {"kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": hard, **spec}, "status": status}


def component(name: str, replicas: int, claim: Object | None = None, priority: str = "", **requests: str) -> Component:
    requirements = {"resourceRequest": requests, "nodeClaim": claim, "priorityClassName": priority}
    return msgspec.convert({"name": name, "replicas": replicas, "replicaRequirements": requirements}, Component)


def requirements(claim: Object | None = None, namespace: str = "default", **requests: str) -> ReplicaRequirements:
    described = {"resourceRequest": requests, "nodeClaim": claim, "namespace": namespace}
    return msgspec.convert(described, ReplicaRequirements)


def cluster(*objects: Object) -> ClusterState:
    return ClusterState(objects)
