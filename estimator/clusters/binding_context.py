"""What a live Karmada says about one binding: the binding, its policy, the clusters, the quotas, and what happened.

What may not be read is named and left out: an answer from the rest is better than none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from estimator.clusters.apiserver import ApiError, ApiServer
from estimator.clusters.listing import get_object, list_objects
from interpreters.core.karmada.api import (
    BINDING,
    CLUSTER,
    CLUSTER_BINDING,
    CLUSTER_POLICY,
    CLUSTER_POLICY_NAME,
    FEDERATED_QUOTA,
    POLICY,
    POLICY_NAME,
    POLICY_NAMESPACE,
    ApiResource,
)

Object = dict[str, Any]
_NOT_ALLOWED: Final = (401, 403)


@dataclass(frozen=True, slots=True)
class BindingContext:
    """Everything that was read. `policies` are all that could be about it while there is no binding."""

    namespace: str
    name: str
    binding: Object | None = None
    policy: Object | None = None
    policies: list[Object] = field(default_factory=list)
    clusters: list[Object] = field(default_factory=list)
    quotas: list[Object] = field(default_factory=list)
    others: list[Object] = field(default_factory=list)
    """Bindings of the namespace, if the binding is to be kept together with some or apart from them."""

    events: list[Object] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)


async def read_binding_context(server: ApiServer, namespace: str, name: str) -> BindingContext:
    """Look once. An empty namespace means a ClusterResourceBinding. Raises `ApiError`."""
    reader = _Reader(server)
    bindings = BINDING if namespace else CLUSTER_BINDING
    binding = await get_object(server, bindings.path(namespace, name))
    clusters = await reader.all(CLUSTER)
    events = await reader.events(namespace or "default")
    if binding is None:
        policies = await reader.all(CLUSTER_POLICY)
        if namespace:
            policies += await reader.all(POLICY, namespace)
        return BindingContext(
            namespace, name, policies=policies, clusters=clusters, events=events, unreadable=reader.refused
        )
    quotas, others = [], []
    if namespace:
        quotas = await reader.all(FEDERATED_QUOTA, namespace)
        if (binding.get("spec") or {}).get("workloadAffinityGroups"):
            others = await reader.all(BINDING, namespace)
    policy = await reader.one(policy_path(binding))
    return BindingContext(namespace, name, binding, policy, [], clusters, quotas, others, events, reader.refused)


def policy_path(binding: Object) -> str:
    """Where the policy is that the binding was made by; empty when it does not say."""
    notes = (binding.get("metadata") or {}).get("annotations") or {}
    if name := notes.get(POLICY_NAME):
        return POLICY.path(str(notes.get(POLICY_NAMESPACE)), name)
    if name := notes.get(CLUSTER_POLICY_NAME):
        return CLUSTER_POLICY.path(name=name)
    return ""


@dataclass(slots=True)
class _Reader:
    """Reads what it may, and keeps what it was refused."""

    server: ApiServer
    refused: list[str] = field(default_factory=list)

    async def all(self, resource: ApiResource, namespace: str = "") -> list[Object]:
        return await self._listed(resource.path(namespace), resource.api_version, resource.kind)

    async def events(self, namespace: str) -> list[Object]:
        return await self._listed(f"/api/v1/namespaces/{namespace}/events", "v1", "Event")

    async def _listed(self, path: str, version: str, kind: str) -> list[Object]:
        """Items of a list do not say what they are, so that is added."""
        found: list[Object] = []
        try:
            async for page in list_objects(self.server, path):
                found += [{**msgspec.json.decode(item), "apiVersion": version, "kind": kind} for item in page]
        except ApiError as error:
            self._keep(error)
        return found

    async def one(self, path: str) -> Object | None:
        if not path:
            return None
        try:
            return await get_object(self.server, path)
        except ApiError as error:
            self._keep(error)
            return None

    def _keep(self, error: ApiError) -> None:
        if error.status not in _NOT_ALLOWED:
            raise error
        self.refused.append(str(error))
