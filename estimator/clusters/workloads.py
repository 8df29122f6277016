"""Which pods belong to a workload: found on the API server, or told by the names that Kubernetes gives them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgspec

from estimator.clusters.mirror import WaitingPod
from estimator.clusters.records import OwnerReference
from interpreters.core.errors import RequestError
from interpreters.core.kinds import GroupVersionKind

if TYPE_CHECKING:
    from estimator.clusters.apiserver import ApiServer

Owned = Callable[[WaitingPod], bool]

_PATHS: Final = {  # (group, kind) to the path of its objects
    ("apps", "Deployment"): "/apis/apps/v1/namespaces/{namespace}/deployments",
    ("apps", "StatefulSet"): "/apis/apps/v1/namespaces/{namespace}/statefulsets",
    ("apps", "ReplicaSet"): "/apis/apps/v1/namespaces/{namespace}/replicasets",
    ("batch", "Job"): "/apis/batch/v1/namespaces/{namespace}/jobs",
}
_TEMPLATE_HASH: Final = "pod-template-hash"


@dataclass(frozen=True, slots=True)
class WorkloadReference:
    api_version: str
    kind: str
    namespace: str
    name: str

    def path(self) -> str:
        """Where its kind lives on an API server. Raises `RequestError` for kinds whose pods cannot be told."""
        found = _PATHS.get((GroupVersionKind.parse(self.api_version, self.kind).group, self.kind))
        if found is None:
            # Worded as karmada-scheduler-estimator words it.
            raise RequestError(f"kind({self.kind}) of workload({self.namespace}/{self.name}) is not supported")
        return found.format(namespace=self.namespace)


class _Metadata(msgspec.Struct, rename="camel"):
    uid: str = ""
    name: str = ""
    creation_timestamp: str = ""
    owner_references: list[OwnerReference] | None = None


class _Selector(msgspec.Struct, rename="camel"):
    match_labels: dict[str, str] | None = None


class _Spec(msgspec.Struct):
    selector: _Selector | None = None
    template: dict[str, Any] | None = None


class _Workload(msgspec.Struct):
    metadata: _Metadata
    spec: _Spec | None = None


class _Workloads(msgspec.Struct):
    items: list[_Workload] | None = None


def owned_by_name(reference: WorkloadReference) -> Owned:
    """For mirrors from files, which hold pods but not what made them."""
    reference.path()

    def owned(pod: WaitingPod) -> bool:
        if pod.namespace != reference.namespace:
            return False
        if reference.kind == "Deployment":
            made = f"{reference.name}-{pod.template_hash}"
            return pod.controller_kind == "ReplicaSet" and bool(pod.template_hash) and pod.controller_name == made
        return (pod.controller_kind, pod.controller_name) == (reference.kind, reference.name)

    return owned


async def find_owned(server: ApiServer, reference: WorkloadReference) -> Owned:
    """Ask the API server. Of a Deployment only the pods of its current template count, as upstream."""
    body = await server.get(f"{reference.path()}/{reference.name}")
    workload = msgspec.json.decode(body, type=_Workload)
    if reference.kind != "Deployment":
        return _owned_by(workload.metadata.uid)
    current = _current(workload, await _replica_sets(server, reference, workload))
    return _owned_by(current.metadata.uid if current else "")


async def _replica_sets(server: ApiServer, reference: WorkloadReference, deployment: _Workload) -> list[_Workload]:
    labels = (deployment.spec.selector.match_labels if deployment.spec and deployment.spec.selector else None) or {}
    path = _PATHS["apps", "ReplicaSet"].format(namespace=reference.namespace)
    query = {"labelSelector": ",".join(f"{key}={value}" for key, value in sorted(labels.items()))} if labels else {}
    return msgspec.json.decode(await server.get(path, query), type=_Workloads).items or []


def _current(deployment: _Workload, replica_sets: Sequence[_Workload]) -> _Workload | None:
    """The oldest ReplicaSet of the Deployment whose template is the Deployment's own."""
    wanted = _without_hash(deployment)
    same = [
        candidate
        for candidate in replica_sets
        if any(
            owner.controller and owner.uid == deployment.metadata.uid
            for owner in candidate.metadata.owner_references or ()
        )
        and _without_hash(candidate) == wanted
    ]
    return min(same, key=lambda each: (each.metadata.creation_timestamp, each.metadata.name), default=None)


def _without_hash(workload: _Workload) -> dict[str, Any]:
    template = dict((workload.spec.template if workload.spec else None) or {})
    metadata = dict(template.get("metadata") or {})
    metadata["labels"] = {key: value for key, value in (metadata.get("labels") or {}).items() if key != _TEMPLATE_HASH}
    return template | {"metadata": metadata}


def _owned_by(uid: str) -> Owned:
    return lambda pod: bool(uid) and pod.controller_uid == uid
