"""Names in Karmada's API: groups, versions, kinds, paths, labels, annotations, feature gates; and names of bindings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from interpreters.core.kinds import GroupVersionKind


class ApiResource(NamedTuple):
    """A kind of Karmada's, and the resource under which an API server has its objects."""

    group: str
    version: str
    kind: str
    plural: str

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}"

    @property
    def group_version_kind(self) -> GroupVersionKind:
        return GroupVersionKind(self.group, self.version, self.kind)

    def path(self, namespace: str = "", name: str = "") -> str:
        """Where an API server has one, those of a namespace, or all."""
        place = f"/namespaces/{namespace}" if namespace else ""
        return f"/apis/{self.api_version}{place}/{self.plural}" + (f"/{name}" if name else "")

    def describes(self, document: Mapping[str, Any]) -> bool:
        """Whether an object is of this kind, in any version."""
        return document.get("kind") == self.kind and str(document.get("apiVersion", "")).startswith(f"{self.group}/")


WORK_GROUP: Final = "work.karmada.io"
POLICY_GROUP: Final = "policy.karmada.io"
CONFIG_API: Final = "config.karmada.io/v1alpha1"  # of webhook configurations, customizations and the webhook's envelope
_CONFIG_GROUP, _, _CONFIG_VERSION = CONFIG_API.partition("/")

BINDING: Final = ApiResource(WORK_GROUP, "v1alpha2", "ResourceBinding", "resourcebindings")
CLUSTER_BINDING: Final = ApiResource(WORK_GROUP, "v1alpha2", "ClusterResourceBinding", "clusterresourcebindings")
BINDINGS: Final = (BINDING, CLUSTER_BINDING)
BINDING_KINDS: Final = tuple(resource.kind for resource in BINDINGS)

POLICY: Final = ApiResource(POLICY_GROUP, "v1alpha1", "PropagationPolicy", "propagationpolicies")
CLUSTER_POLICY: Final = ApiResource(POLICY_GROUP, "v1alpha1", "ClusterPropagationPolicy", "clusterpropagationpolicies")
POLICIES: Final = (POLICY, CLUSTER_POLICY)
FEDERATED_QUOTA: Final = ApiResource(POLICY_GROUP, "v1alpha1", "FederatedResourceQuota", "federatedresourcequotas")

CLUSTER: Final = ApiResource("cluster.karmada.io", "v1alpha1", "Cluster", "clusters")
NOT_READY_TAINT: Final = "cluster.karmada.io/not-ready"
UNREACHABLE_TAINT: Final = "cluster.karmada.io/unreachable"

WEBHOOK_CONFIGURATION: Final = ApiResource(
    _CONFIG_GROUP, _CONFIG_VERSION, "ResourceInterpreterWebhookConfiguration",
    "resourceinterpreterwebhookconfigurations",
)  # fmt: skip
CUSTOMIZATION: Final = ApiResource(
    _CONFIG_GROUP, _CONFIG_VERSION, "ResourceInterpreterCustomization", "resourceinterpretercustomizations"
)

# annotations and labels
POLICY_NAME: Final = "propagationpolicy.karmada.io/name"
POLICY_NAMESPACE: Final = "propagationpolicy.karmada.io/namespace"
CLUSTER_POLICY_NAME: Final = "clusterpropagationpolicy.karmada.io/name"
APPLIED_PLACEMENT: Final = "policy.karmada.io/applied-placement"
MANAGED_BY: Final = (
    "propagationpolicy.karmada.io/permanent-id", "clusterpropagationpolicy.karmada.io/permanent-id",
    "binding.karmada.io/managed-by",
)  # fmt: skip

# feature gates
MULTIPLE_POD_TEMPLATES: Final = "MultiplePodTemplatesScheduling"
WORKLOAD_AFFINITY: Final = "WorkloadAffinity"
QUOTA_ESTIMATE: Final = "ResourceQuotaEstimate"


def binding_name(kind: str, name: str) -> str:
    """Karmada's rule; RBAC names may hold colons, which an object's name may not."""
    return f"{name.replace(':', '.')}-{kind}".lower()
