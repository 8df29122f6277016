"""The binding that a workload gets: which fields are filled from which script, as the proposal or as real Karmada does.

| gate | scripts                      | like proposal                                              | like karmada      |
|------|------------------------------|------------------------------------------------------------|-------------------|
| off  | GetReplicas                  | replicas, replicaRequirements                              | the same          |
| on   | GetComponents, one component | components, and the legacy fields from it                  | components        |
| on   | GetComponents, several       | components, and the legacy fields if GetReplicas answers   | components        |
| on   | GetComponents, none          | nothing: not a workload                                    | nothing           |
| on   | only GetReplicas             | the legacy fields, and one component named `main`          | the legacy fields |

Several components that go to exactly one cluster are recorded there too, by the proposal and by Karmada from 1.19 on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import msgspec

from interpreters.core.errors import InputError
from interpreters.core.interpreted import Interpreted
from interpreters.core.karmada.api import (
    BINDING,
    CLUSTER_BINDING,
    CLUSTER_POLICY,
    CLUSTER_POLICY_NAME,
    POLICY_NAME,
    POLICY_NAMESPACE,
    binding_name,
)
from interpreters.core.karmada.releases import NEWEST, Release
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.requirements import Component, ComponentRequirements, ReplicaRequirements

Like = Literal["proposal", "karmada"]

_FROM_POLICY: Final = ("propagateDeps", "placement", "conflictResolution", "failover", "preserveResourcesOnDeletion",
                       "suspension")  # fmt: skip
_CLUSTER_SCOPED: Final = frozenset(
    {
        ("", "Namespace"), ("", "Node"), ("", "PersistentVolume"),
        ("rbac.authorization.k8s.io", "ClusterRole"), ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
        ("apiextensions.k8s.io", "CustomResourceDefinition"), ("storage.k8s.io", "StorageClass"),
        ("scheduling.k8s.io", "PriorityClass"), ("networking.k8s.io", "IngressClass"), ("node.k8s.io", "RuntimeClass"),
        ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
        ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
        ("apiregistration.k8s.io", "APIService"),
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ClusterTarget:
    """A cluster to schedule to; without a number it gets all replicas."""

    name: str
    replicas: int | None = None


def parse_targets(text: str) -> tuple[ClusterTarget, ...]:
    """`a,b` or `a=3,b=2`."""
    targets = []
    for word in filter(None, (word.strip() for word in text.split(","))):
        name, equals, number = word.partition("=")
        if not name or (equals and not number.isdecimal()):
            raise InputError(f'clusters: expected names such as "a,b" or "a=3,b=2", got "{word}"')
        targets.append(ClusterTarget(name, int(number) if equals else None))
    names = [target.name for target in targets]
    if twice := {name for name in names if names.count(name) > 1}:
        raise InputError(f"clusters: duplicate cluster {', '.join(sorted(twice))}; name a cluster once")
    return tuple(targets)


def is_cluster_scoped(workload: Mapping[str, Any]) -> bool:
    """Whether the object lives outside namespaces: offline only built-in kinds can be told, others count as inside."""
    gvk = GroupVersionKind.of(dict(workload))
    return (gvk.group, gvk.kind) in _CLUSTER_SCOPED


def in_namespace(workload: dict[str, Any]) -> dict[str, Any]:
    """The object with its namespace written out, as kubectl would send it."""
    metadata = workload.get("metadata") or {}
    if metadata.get("namespace") or is_cluster_scoped(workload):
        return workload
    return {**workload, "metadata": {**metadata, "namespace": "default"}}


def build_binding(
    workload: Mapping[str, Any],
    interpreted: Interpreted,
    *,
    policy: Mapping[str, Any] | None = None,
    targets: Sequence[ClusterTarget] = (),
    gate: bool = False,
    like: Like = "proposal",
    release: Release = NEWEST,
    priority: int | None = None,
    affinity_groups: Mapping[str, str] | None = None,
    cluster_scoped: bool | None = None,
) -> dict[str, Any]:
    """The ResourceBinding (ClusterResourceBinding for an object outside namespaces) of a workload."""
    gvk = GroupVersionKind.of(dict(workload))
    metadata = workload.get("metadata") or {}
    if not metadata.get("name"):
        raise InputError(f"{gvk}: metadata.name is missing; a binding is named after its workload")
    outside = is_cluster_scoped(workload) if cluster_scoped is None else cluster_scoped
    namespace = "" if outside else metadata.get("namespace") or "default"
    resource = {"apiVersion": gvk.api_version, "kind": gvk.kind, "namespace": namespace, "name": metadata["name"],
                "uid": metadata.get("uid"), "resourceVersion": metadata.get("resourceVersion")}  # fmt: skip
    demand = demand_fields(interpreted, namespace=namespace, gate=gate, like=like)
    placement = ((policy or {}).get("spec") or {}).get("placement")
    records = schedules_components(placement) and (like == "proposal" or release.records_components)
    spec = {
        **_given(resource=_given(**resource)),
        **demand,
        **_from_policy(policy),
        **({} if priority is None else {"schedulePriority": {"priority": priority}}),
        **_given(workloadAffinityGroups=dict(affinity_groups or {})),
        **_given(clusters=[_target(target, demand, records_components=records) for target in targets]),
    }
    name = {"name": binding_name(gvk.kind, metadata["name"]), **_given(namespace=namespace)}
    return {
        "apiVersion": BINDING.api_version,
        "kind": (CLUSTER_BINDING if outside else BINDING).kind,
        "metadata": {**name, **_given(annotations=_policy_annotations(policy))},
        "spec": spec,
    }


def demand_fields(interpreted: Interpreted, *, namespace: str, gate: bool, like: Like) -> dict[str, Any]:
    """The fields of a binding's spec that say what the workload needs: the table at the top of this module."""
    legacy = {} if interpreted.replicas is None else _legacy(interpreted.replicas, interpreted.requirements)
    if not gate:
        return legacy
    if interpreted.components is None:
        main = {} if like == "karmada" or not legacy else {"components": _wire(interpreted.as_components)}
        return legacy | main
    if not interpreted.components:
        return {}
    components = {"components": _wire(interpreted.components)}
    if like == "karmada":
        return components
    if len(interpreted.components) > 1:
        return legacy | components
    only = interpreted.components[0]
    return _legacy(only.replicas, _with_namespace(only.replica_requirements, namespace)) | components


def schedules_components(placement: Mapping[str, Any] | None) -> bool:
    """Whether the placement lets all components be scheduled together: to exactly one cluster.

    Karmada fills a missing `minGroups` with 1.
    """
    return any(
        rule.get("spreadByField") == "cluster" and (rule.get("minGroups") or 1) == 1 == rule.get("maxGroups")
        for rule in (placement or {}).get("spreadConstraints") or ()
    )


def _target(target: ClusterTarget, demand: Mapping[str, Any], *, records_components: bool) -> dict[str, Any]:
    replicas = demand.get("replicas") if target.replicas is None else target.replicas
    components = demand.get("components") or []
    placed = (
        [{"name": part["name"], "replicas": part["replicas"]} for part in components]
        if len(components) > 1 and records_components
        else []
    )
    return {"name": target.name, **_given(replicas=replicas, components=placed)}


def _legacy(replicas: int, requirements: ReplicaRequirements | None) -> dict[str, Any]:
    wire = msgspec.to_builtins(requirements) if requirements is not None else {}
    return {"replicas": replicas, **_given(replicaRequirements=wire)}


def _wire(components: Sequence[Component]) -> list[dict[str, Any]]:
    return [msgspec.to_builtins(component) for component in components]


def _with_namespace(needs: ComponentRequirements | None, namespace: str) -> ReplicaRequirements | None:
    if needs is None:
        return None
    return ReplicaRequirements(needs.node_claim, needs.resource_request, needs.priority_class_name, namespace)


def _from_policy(policy: Mapping[str, Any] | None) -> dict[str, Any]:
    if policy is None:
        return {}
    spec = policy.get("spec") or {}
    scheduler = spec.get("schedulerName") or "default-scheduler"
    return {**_given(**{field: spec.get(field) for field in _FROM_POLICY}), "schedulerName": scheduler}


def _policy_annotations(policy: Mapping[str, Any] | None) -> dict[str, str]:
    if policy is None:
        return {}
    metadata = policy.get("metadata") or {}
    if policy.get("kind") == CLUSTER_POLICY.kind:
        return {CLUSTER_POLICY_NAME: str(metadata.get("name", ""))}
    return {
        POLICY_NAMESPACE: str(metadata.get("namespace") or "default"),
        POLICY_NAME: str(metadata.get("name", "")),
    }


def _given(**fields: Any) -> dict[str, Any]:
    """The fields that hold something: empty ones do not stand in an object."""
    return {name: value for name, value in fields.items() if value not in (None, "", [], {})}
