"""The nouns of a placement policy, and of the clusters that it chooses from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeVar

import msgspec

from interpreters.core.decoder_errors import misfit
from interpreters.core.errors import InputError
from interpreters.core.requirements import LabelSelector, NodeSelectorRequirement, Toleration, Wire

Strategy = Literal["Duplicated", "Aggregated", "StaticWeight", "DynamicWeight"]


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

    @property
    def field(self) -> str:
        return self.spread_by_field or ("" if self.spread_by_label else "cluster")

    @property
    def least(self) -> int:
        return max(self.min_groups, 1)

    def most(self, there_are: int) -> int:
        """How many groups to take of so many; without a maximum all of them."""
        return min(self.max_groups, there_are) if self.max_groups else there_are


class StaticWeight(Wire, frozen=True):
    target_cluster: ClusterAffinity = ClusterAffinity()
    weight: int = 0


class WeightPreference(Wire, frozen=True):
    static_weight_list: list[StaticWeight] = []
    dynamic_weight: str = ""


class ReplicaScheduling(Wire, frozen=True):
    """How replicas are shared out. Left out altogether they are duplicated, given without a type divided."""

    replica_scheduling_type: str = ""
    replica_division_preference: str = ""
    weight_preference: WeightPreference | None = None

    @property
    def is_divided(self) -> bool:
        return self.replica_scheduling_type != "Duplicated"

    @property
    def by_dynamic_weight(self) -> bool:
        return bool(self.weight_preference and self.weight_preference.dynamic_weight)

    @property
    def strategy(self) -> Strategy:
        """Divided without a preference is Weighted; Weighted without a dynamic weight goes by the static ones."""
        if not self.is_divided:
            return "Duplicated"
        if self.replica_division_preference == "Aggregated":
            return "Aggregated"
        return "DynamicWeight" if self.by_dynamic_weight else "StaticWeight"

    @property
    def follows_capacity(self) -> bool:
        """Divided by what the clusters have free: aggregated, or by dynamic weights."""
        if self.replica_scheduling_type != "Divided":
            return False
        return self.replica_division_preference == "Aggregated" or self.by_dynamic_weight


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

    @property
    def strategy(self) -> Strategy:
        return self.replica_scheduling.strategy if self.replica_scheduling else "Duplicated"

    @property
    def groups(self) -> list[ClusterAffinityTerm]:
        """The scheduling groups in order; a policy without named ones is one group without a name."""
        if self.cluster_affinities:
            return self.cluster_affinities
        only = self.cluster_affinity or ClusterAffinity()
        fields = (only.label_selector, only.field_selector, only.cluster_names, only.exclude)
        return [ClusterAffinityTerm(*fields)]

    def spread_by(self, field: str) -> SpreadConstraint | None:
        """The constraint by cluster, region, zone or provider; one by nothing is by cluster."""
        return next((one for one in self.spread_constraints if one.field == field), None)

    @property
    def takes_one_cluster(self) -> bool:
        """Spread by cluster with 1..1: what Karmada needs to see before it counts sets of components."""
        one = self.spread_by("cluster")
        return one is not None and one.least == 1 == one.max_groups


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
        return msgspec.convert(value, into)
    except msgspec.ValidationError:
        pass  # a null stands for a field left out: rare, and looking for them takes longer than all the rest
    try:
        return msgspec.convert(_without_nulls(value), into)
    except msgspec.ValidationError as error:
        raise InputError(misfit(error, root)) from None


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value
