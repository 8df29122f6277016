"""What Karmada answers without any webhook: by Go code for Kubernetes' own kinds, by scripts it ships for others.

Made from Karmada's sources; `make conformance KARMADA_SRC=<checkout>` compares it with a checkout.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from interpreters.core.karmada.releases import KARMADA_1_18, KARMADA_1_19, NEWEST, Release
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import BY_NAME, Operation

# Groups of Kubernetes itself with a dot in their name; those without one are all its own.
_NATIVE_GROUPS: Final = frozenset(
    f"{name}.k8s.io"
    for name in (
        "admissionregistration", "apiextensions", "apiregistration", "authentication", "authorization", "certificates",
        "coordination", "discovery", "events", "flowcontrol.apiserver", "internal.apiserver", "metrics", "networking",
        "node", "rbac.authorization", "resource", "scheduling", "storage", "storagemigration",
    )
)  # fmt: skip

# Karmada reflects the whole status of any kind that nobody else answers for.
_ALWAYS: Final = frozenset({BY_NAME["InterpretStatus"]})

_OF_STATUS: Final = "InterpretStatus AggregateStatus InterpretHealth"
_COUNTED: Final = "InterpretReplica ReviseReplica"
_FLUX: Final = f"Retain {_OF_STATUS} InterpretDependency"
_SHIPPED: Final = {
    "apps.kruise.io/v1alpha1/AdvancedCronJob": "AggregateStatus InterpretDependency",
    "apps.kruise.io/v1alpha1/BroadcastJob": f"{_COUNTED} Retain {_OF_STATUS} InterpretDependency",
    "apps.kruise.io/v1alpha1/CloneSet": f"{_COUNTED} {_OF_STATUS} InterpretDependency",
    "apps.kruise.io/v1alpha1/DaemonSet": f"{_OF_STATUS} InterpretDependency",
    "apps.kruise.io/v1alpha1/SidecarSet": f"InterpretReplica Retain {_OF_STATUS} InterpretDependency",
    "apps.kruise.io/v1alpha1/UnitedDeployment": f"{_COUNTED} {_OF_STATUS} InterpretDependency",
    "apps.kruise.io/v1beta1/StatefulSet": f"{_COUNTED} {_OF_STATUS} InterpretDependency",
    "argoproj.io/v1alpha1/Workflow": f"{_COUNTED} Retain InterpretHealth InterpretDependency",
    "batch.volcano.sh/v1alpha1/Job": f"InterpretComponent {_OF_STATUS}",
    "flink.apache.org/v1beta1/FlinkDeployment": f"InterpretReplica InterpretComponent {_OF_STATUS}",
    "helm.toolkit.fluxcd.io/v2beta1/HelmRelease": _FLUX,
    "kubeflow.org/v1/Notebook": f"InterpretReplica {_OF_STATUS}",
    "kubeflow.org/v1/PyTorchJob": "InterpretComponent AggregateStatus InterpretHealth InterpretDependency",
    "kubeflow.org/v1/TFJob": "InterpretComponent AggregateStatus InterpretHealth InterpretDependency",
    "kubeflow.org/v2beta1/MPIJob": f"InterpretComponent {_OF_STATUS}",
    "kustomize.toolkit.fluxcd.io/v1/Kustomization": _FLUX,
    "kyverno.io/v1/ClusterPolicy": _OF_STATUS,
    "kyverno.io/v1/Policy": _OF_STATUS,
    "ray.io/v1/RayCluster": "InterpretComponent AggregateStatus InterpretHealth",
    "ray.io/v1/RayJob": "InterpretComponent AggregateStatus InterpretHealth InterpretDependency",
    "ray.io/v1/RayService": f"{_COUNTED} AggregateStatus InterpretHealth InterpretDependency",
    "source.toolkit.fluxcd.io/v1/GitRepository": _FLUX,
    "source.toolkit.fluxcd.io/v1beta2/Bucket": _FLUX,
    "source.toolkit.fluxcd.io/v1beta2/HelmChart": _FLUX,
    "source.toolkit.fluxcd.io/v1beta2/HelmRepository": _FLUX,
    "source.toolkit.fluxcd.io/v1beta2/OCIRepository": _FLUX,
    "sparkoperator.k8s.io/v1beta2/SparkApplication": f"InterpretComponent {_OF_STATUS}",
}


def _read(table: Mapping[str, str]) -> Mapping[GroupVersionKind, frozenset[Operation]]:
    return {
        GroupVersionKind.from_folder(folder): frozenset(BY_NAME[name] for name in names.split())
        for folder, names in table.items()
    }


SHIPPED: Final[Mapping[Release, Mapping[GroupVersionKind, frozenset[Operation]]]] = {
    KARMADA_1_18: _read(_SHIPPED),
    KARMADA_1_19: _read(_SHIPPED),  # the same scripts, as far as their operations go
}


def is_native(kind: GroupVersionKind) -> bool:
    """Whether Karmada has Go code for the kind's group, which a webhook would take the place of."""
    return "." not in kind.group or kind.group in _NATIVE_GROUPS


def answered_by_karmada(kind: GroupVersionKind, release: Release = NEWEST) -> frozenset[Operation]:
    """The operations that a release answers itself for a kind that is not Kubernetes' own."""
    return SHIPPED[release].get(kind, frozenset()) | _ALWAYS
