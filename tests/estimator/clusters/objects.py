"""Nodes, pods and quotas for tests, as an API server would print them."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]


def node(name: str, cpu: str = "4", memory: str = "16Gi", pods: str = "110", **more: Any) -> Object:
    return {
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": {"name": name, "labels": more.pop("labels", {"kubernetes.io/hostname": name})},
        "spec": more,
        "status": {"allocatable": {"cpu": cpu, "memory": memory, "pods": pods}},
    }


def pod(name: str, on: str = "", cpu: str = "1", phase: str = "Running", namespace: str = "default") -> Object:
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": name, "namespace": namespace, "uid": f"uid-{name}"},
        "spec": {
            **({"nodeName": on} if on else {}),
            "containers": [{"name": "main", "image": "x", "resources": {"requests": {"cpu": cpu}}}],
        },
        "status": {"phase": phase},
    }


def waiting_pod(name: str, owner: Object, since: str, template_hash: str = "", reason: str = "Unschedulable") -> Object:
    made = pod(name, phase="Pending", namespace=owner["metadata"]["namespace"])
    made["metadata"]["ownerReferences"] = [reference_to(owner)]
    if template_hash:
        made["metadata"]["labels"] = {"app": "web", "pod-template-hash": template_hash}
    made["status"]["conditions"] = [
        {"type": "Initialized", "status": "True"},
        {"type": "PodScheduled", "status": "False", "reason": reason, "lastTransitionTime": since},
    ]
    return made


def reference_to(owner: Object) -> Object:
    metadata = owner["metadata"]
    return {"kind": owner["kind"], "name": metadata["name"], "uid": metadata["uid"], "controller": True}


def quota(name: str, hard: dict[str, str], used: dict[str, str], namespace: str = "default") -> Object:
    return {
        "kind": "ResourceQuota",
        "apiVersion": "v1",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"hard": hard},
        "status": {"hard": hard, "used": used},
    }


def workload(kind: str, name: str, image: str = "one", owner: Object | None = None, **labels: str) -> Object:
    group = "batch/v1" if kind == "Job" else "apps/v1"
    return {
        "kind": kind,
        "apiVersion": group,
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": f"uid-{kind}-{name}",
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": {"app": "web", **labels},
            **({"ownerReferences": [reference_to(owner)]} if owner else {}),
        },
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web", **labels}},
                "spec": {"containers": [{"name": "main", "image": image}]},
            },
        },
    }
