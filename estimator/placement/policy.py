"""The nouns of a placement policy, and of the clusters that it chooses from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from interpreters.core.errors import InputError
from interpreters.core.requirements import LabelSelector, NodeSelectorRequirement, Toleration, Wire


class FieldSelector(Wire, frozen=True):
    """By provider, region or zone; In and NotIn only."""

    match_expressions: list[NodeSelectorRequirement] = []


class ClusterAffinity(Wire, frozen=True):
    """Which clusters: everything that is given must match, and `exclude` beats all of it."""

    label_selector: LabelSelector | None = None
    field_selector: FieldSelector | None = None
    cluster_names: list[str] = []
    exclude: list[str] = []

    @property
    def is_empty(self) -> bool:
        return not (self.label_selector or self.field_selector or self.cluster_names or self.exclude)


class NamedAffinity(ClusterAffinity, frozen=True):
    """A scheduling group, or one of the overflow groups behind it."""

    affinity_name: str = ""


class ClusterAffinityTerm(NamedAffinity, frozen=True):
    """A scheduling group."""

    overflow_affinities: list[NamedAffinity] | None = None


class SpreadConstraint(Wire, frozen=True):
    spread_by_field: str = ""
    spread_by_label: str = ""
    min_groups: int = 0
    max_groups: int = 0


class StaticWeight(Wire, frozen=True):
    target_cluster: ClusterAffinity = ClusterAffinity()
    weight: int = 0


class WeightPreference(Wire, frozen=True):
    static_weight_list: list[StaticWeight] = []
    dynamic_weight: str = ""


class ReplicaScheduling(Wire, frozen=True):
    """How replicas are shared out. Karmada's default for workloads with replicas is Duplicated."""

    replica_scheduling_type: str = ""
    replica_division_preference: str = ""
    weight_preference: WeightPreference | None = None

    @property
    def follows_capacity(self) -> bool:
        """Divided by what the clusters have free: aggregated, or by dynamic weights."""
        if self.replica_scheduling_type != "Divided":
            return False
        weights = self.weight_preference
        return self.replica_division_preference == "Aggregated" or bool(weights and weights.dynamic_weight)


class GroupBy(Wire, frozen=True):
    group_by_label_key: str = ""


class WorkloadAffinity(Wire, frozen=True):
    affinity: GroupBy | None = None
    anti_affinity: GroupBy | None = None


class Placement(Wire, frozen=True):
    cluster_affinity: ClusterAffinity | None = None
    cluster_affinities: list[ClusterAffinityTerm] | None = None
    cluster_tolerations: list[Toleration] = []
    spread_constraints: list[SpreadConstraint] = []
    replica_scheduling: ReplicaScheduling | None = None
    workload_affinity: WorkloadAffinity | None = None


class ClusterTaint(Wire, frozen=True):
    key: str = ""
    value: str = ""
    effect: str = ""


class Condition(Wire, frozen=True):
    type: str = ""
    status: str = ""


class ResourceName(Wire, frozen=True):
    name: str = ""
    kind: str = ""


class ApiEnablement(Wire, frozen=True):
    group_version: str = ""
    resources: list[ResourceName] = []


class ClusterMetadata(Wire, frozen=True):
    name: str = ""
    labels: dict[str, str] = {}
    deletion_timestamp: str | None = None


class ClusterSpec(Wire, frozen=True):
    provider: str = ""
    region: str = ""
    zone: str = ""
    zones: list[str] = []
    taints: list[ClusterTaint] = []


class ClusterStatus(Wire, frozen=True):
    conditions: list[Condition] = []
    api_enablements: list[ApiEnablement] | None = None


class Cluster(Wire, frozen=True):
    """A member cluster as `kubectl get clusters -o json` shows it, as far as placement cares."""

    metadata: ClusterMetadata
    spec: ClusterSpec = ClusterSpec()
    status: ClusterStatus = ClusterStatus()

    @property
    def name(self) -> str:
        return self.metadata.name


T = TypeVar("T")


def read_placement(placement: Mapping[str, Any]) -> Placement:
    """Check a placement's types. Raises `InputError` with the field path."""
    return _convert(placement, Placement, "spec.placement")


def read_cluster(cluster: Mapping[str, Any]) -> Cluster:
    """Check a Cluster's types. Raises `InputError` with the field path."""
    return _convert(cluster, Cluster, "cluster")


def _convert(value: Any, into: type[T], root: str) -> T:
    try:
        return msgspec.convert(_without_nulls(value), into)
    except msgspec.ValidationError as error:
        problem, _, path = str(error).partition(" - at ")
        raise InputError(f"{root}{path.strip('`').removeprefix('$')}: {problem[:1].lower()}{problem[1:]}") from None


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value
