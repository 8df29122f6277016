"""Small workloads, bindings, quotas and admission requests that the accounting tests are made of."""

from __future__ import annotations

import json
from itertools import count
from typing import Any

from estimator.accounting.admission.review import AdmissionRequest, decode_review
from estimator.accounting.demand import Demand, Part, PodRequest, Target, WorkloadKey
from estimator.accounting.ledger.charges import bound
from estimator.accounting.ledger.ledger import Ledger
from estimator.quotas.objects import Quota, read_quota
from interpreters.core.interpreted import Interpreted
from interpreters.core.karmada.api import binding_name
from interpreters.core.requirements import Component, ComponentRequirements

_NUMBERS = count(1)
FLINK = {"group": "flink.apache.org", "version": "v1beta1", "kind": "FlinkDeployment"}


def component(name: str, replicas: int, cpu: str = "1", **more: str) -> Component:
    return Component(name, replicas, ComponentRequirements(resource_request={"cpu": cpu, **more}))


def one(cpu: str, replicas: int = 1, **more: str) -> Interpreted:
    return Interpreted(components=(component("main", replicas, cpu, **more),))


def demand(*parts: tuple[str, int, dict[str, str]], clusters: tuple[str, ...] = ()) -> Demand:
    return Demand(
        components=[Part(name, replicas, PodRequest(dict(request))) for name, replicas, request in parts],
        clusters=[Target(name) for name in clusters] or None,
    )


async def book(ledger: Ledger, workload: WorkloadKey, charged: Demand) -> None:
    """Charge a workload for what its binding says."""
    async with ledger.page(workload.namespace) as page:
        await page.save(bound(await page.charge(workload), charged))


def federated(overall: dict[str, str], namespace: str = "team-a", name: str = "compute", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "FederatedResourceQuota",
        "metadata": {"namespace": namespace, "name": name},
        "spec": {"overall": overall, **spec},
    }


def limit(overall: dict[str, str], **spec: Any) -> Quota:
    return read_quota(federated(overall, **spec))


def request(
    operation: str = "CREATE", name: str = "job", *, uid: str = "", kind: dict[str, str] = FLINK,
    obj: dict[str, Any] | None = None, old: dict[str, Any] | None = None, dry_run: bool = False,
    namespace: str = "team-a", **metadata: Any,
) -> AdmissionRequest:  # fmt: skip
    new = obj or {"metadata": {"name": name, "namespace": namespace, **metadata}}
    review = {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": uid or f"request-{next(_NUMBERS)}",
            "kind": kind,
            "name": name,
            "namespace": namespace,
            "operation": operation,
            "userInfo": {"username": "alice"},
            "object": None if operation == "DELETE" else new,
            "oldObject": old or (new if operation != "CREATE" else None),
            "dryRun": dry_run,
        },
    }
    return decode_review(json.dumps(review).encode())


def binding(
    name: str = "job", namespace: str = "team-a", clusters: tuple[Any, ...] = (), **spec: Any
) -> dict[str, Any]:
    resource = {
        "apiVersion": "flink.apache.org/v1beta1", "kind": "FlinkDeployment", "namespace": namespace, "name": name,
    } | spec.pop("resource", {})  # fmt: skip
    return {
        "apiVersion": "work.karmada.io/v1alpha2",
        "kind": "ResourceBinding",
        "metadata": {"name": binding_name(resource["kind"], resource["name"]), "namespace": namespace},
        "spec": {
            "resource": resource,
            "clusters": [item if isinstance(item, dict) else {"name": item} for item in clusters],
            **spec,
        },
    }


def binding_request(operation: str, obj: dict[str, Any], old: dict[str, Any] | None = None) -> AdmissionRequest:
    kind = {"group": "work.karmada.io", "version": "v1alpha2", "kind": obj["kind"]}
    metadata = obj["metadata"]
    return request(
        operation, metadata["name"], kind=kind, obj=obj, old=old or obj, namespace=metadata.get("namespace", "")
    )
