"""What a workload asks for and where it was sent: the part of a binding that accounting reads, decoded leanly.

These structs are narrower than the nouns of a reply on purpose: an audit decodes a million bindings, and every field
left out here is one that msgspec skips instead of building. They ignore the garbage collector's bookkeeping
(`gc=False`) because they can never form cycles.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec import Struct

from interpreters.core.karmada.api import BINDING, WORK_GROUP, binding_name
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.requirements import Component, ComponentRequirements

_Object = TypeVar("_Object")
AnyBinding = TypeVar("AnyBinding", bound="Binding")


class Lean(Struct, frozen=True, omit_defaults=True, rename="camel", gc=False):
    """Base: camelCase on the wire, empty fields left out."""


class PodRequest(Lean, frozen=True, gc=False):
    """What one pod requests."""

    resource_request: dict[str, str | int | float] = {}
    priority_class_name: str = ""


class Part(Lean, frozen=True, gc=False):
    """A component as accounting sees it."""

    name: str = ""
    replicas: int = 0
    replica_requirements: PodRequest | None = None

    @property
    def request(self) -> dict[str, str | int | float]:
        return self.replica_requirements.resource_request if self.replica_requirements else {}

    @property
    def priority_class(self) -> str:
        return self.replica_requirements.priority_class_name if self.replica_requirements else ""


class Target(Lean, frozen=True, gc=False):
    """A cluster the workload was scheduled to."""

    name: str
    replicas: int = 0


class Demand(Lean, frozen=True, gc=False):
    """Components (or, without them, replicas of one pod template) and the clusters they were sent to."""

    components: list[Part] | None = None
    replicas: int = 0
    replica_requirements: PodRequest | None = None
    clusters: list[Target] | None = None

    @property
    def parts(self) -> list[Part]:
        """The components; a workload known only by its replicas has one, named `main` as in a binding."""
        if self.components:
            return self.components
        if self.replicas or self.replica_requirements:
            return [Part("main", self.replicas, self.replica_requirements)]
        return []

    @property
    def targets(self) -> list[Target]:
        return self.clusters or []


class ResourceReference(Lean, frozen=True, gc=False):
    """Which object a binding binds, and which state of it."""

    api_version: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    resource_version: str = ""


class SpreadConstraint(Lean, frozen=True, gc=False):
    spread_by_field: str = ""
    max_groups: int = 0


class ClusterNames(Lean, frozen=True, gc=False):
    cluster_names: list[str] | None = None


class PlacementRule(Lean, frozen=True, gc=False):
    """The part of a placement that says how many clusters, and which by name."""

    spread_constraints: list[SpreadConstraint] | None = None
    cluster_affinity: ClusterNames | None = None


class EvictionTask(Lean, frozen=True, gc=False):
    from_cluster: str = ""
    purge_mode: str = ""
    replicas: int | None = None


class Suspension(Lean, frozen=True, gc=False):
    dispatching: bool | None = None
    dispatching_on_clusters: ClusterNames | None = None
    scheduling: bool | None = None

    @property
    def is_any(self) -> bool:
        clusters = self.dispatching_on_clusters
        return bool(self.dispatching or self.scheduling or (clusters is not None and clusters.cluster_names))


class ScheduledComponent(Lean, frozen=True, gc=False):
    name: str = ""
    replicas: int = 0


class ScheduledTarget(Target, frozen=True, gc=False):
    """A cluster with what of each component was scheduled to it, which Karmada records from 1.19 on."""

    components: list[ScheduledComponent] | None = None


class Dependent(Lean, frozen=True, gc=False):
    """A binding whose object needs the one of this binding, and where it runs."""

    clusters: list[Target] | None = None


class BindingSpec(Demand, frozen=True, gc=False):
    clusters: list[ScheduledTarget] | None = None  # type: ignore[assignment]
    resource: ResourceReference = ResourceReference()
    placement: PlacementRule | None = None
    graceful_eviction_tasks: list[EvictionTask] | None = None
    suspension: Suspension | None = None
    reschedule_triggered_at: str | None = None
    required_by: list[Dependent] | None = None

    @property
    def plain(self) -> Demand:
        """The demand alone, as a charge keeps it."""
        clusters = [Target(target.name, target.replicas) for target in self.clusters or ()]
        return Demand(self.components or None, self.replicas, self.replica_requirements, clusters or None)


class Metadata(Lean, frozen=True, gc=False):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    creation_timestamp: str = ""


class BindingStatus(Lean, frozen=True, gc=False):
    last_scheduled_time: str | None = None


class Binding(Lean, frozen=True, gc=False):
    """A ResourceBinding or ClusterResourceBinding, as far as accounting reads it."""

    kind: str = ""
    metadata: Metadata = Metadata()
    spec: BindingSpec = BindingSpec()
    status: BindingStatus = BindingStatus()

    @property
    def workload(self) -> WorkloadKey:
        """Who is charged: its object. A binding that does not have the name which Karmada gives is charged by itself:
        a second one of the same object must not say what the first one costs."""
        resource = self.spec.resource
        namespace = resource.namespace or self.metadata.namespace
        name = self.metadata.name
        if name and resource.name and name != binding_name(resource.kind, resource.name):
            return WorkloadKey(WORK_GROUP, self.kind or BINDING.kind, namespace, name)
        group = GroupVersionKind.parse(resource.api_version, resource.kind).group
        return WorkloadKey(group, resource.kind, namespace, resource.name or name)


class WorkloadKey(NamedTuple):
    """Who is charged. The version is left out: the same object may be read as `v1` and as `v1beta1`."""

    group: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}.{self.group} {self.place}" if self.group else f"{self.kind} {self.place}"

    @property
    def place(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    @classmethod
    def of(cls, obj: dict[str, Any]) -> WorkloadKey:
        """The key of a Kubernetes object. Raises `RequestError` when it does not say what it is."""
        gvk = GroupVersionKind.of(obj)
        metadata = obj.get("metadata") or {}
        return cls(gvk.group, gvk.kind, str(metadata.get("namespace") or ""), str(metadata.get("name") or ""))


def charge_binding(workload: WorkloadKey, demand: Demand) -> Binding:
    """A demand that stands by itself, such as a ledger's charge, in the shape that bindings are counted in."""
    group = f"{workload.group}/" if workload.group else ""
    resource = ResourceReference(group, workload.kind, workload.namespace, workload.name)
    clusters = [ScheduledTarget(target.name, target.replicas) for target in demand.targets]
    spec = BindingSpec(
        demand.components, demand.replicas, demand.replica_requirements, clusters or None, resource=resource
    )
    return Binding(BINDING.kind, Metadata(binding_name(workload.kind, workload.name), workload.namespace), spec)


def placed_in(demand: Demand, clusters: int) -> Demand:
    """The demand as if that many clusters ran it, each one whole set."""
    targets = [Target(f"cluster-{number + 1}") for number in range(clusters)]
    return Demand(components=demand.parts, clusters=targets)


def demand_of(components: list[Component]) -> Demand:
    """The demand of a workload that was interpreted and not scheduled yet."""
    return Demand(components=[_part(component) for component in components])


def _part(component: Component) -> Part:
    needs: ComponentRequirements | None = component.replica_requirements
    request = PodRequest(dict(needs.resource_request), needs.priority_class_name) if needs else None
    return Part(component.name, component.replicas, request)


def decode_binding(text: bytes | msgspec.Raw) -> Binding:
    """A binding, given as JSON. A field that is null is absent, as to Kubernetes. Raises `msgspec.DecodeError`."""
    return with_dependents(decode_object(text, binding_decoder))


def with_dependents(binding: AnyBinding) -> AnyBinding:
    """Karmada also sends an object to the clusters of those that need it. Its own accounting leaves these out, which
    would let anything run for nothing that another object names as its dependency."""
    if not binding.spec.required_by:
        return binding
    targets = list(binding.spec.clusters or ())
    names = {target.name for target in targets}
    for dependent in binding.spec.required_by:
        for target in dependent.clusters or ():
            if target.name not in names:
                names.add(target.name)
                targets.append(ScheduledTarget(target.name, target.replicas))
    return msgspec.structs.replace(binding, spec=msgspec.structs.replace(binding.spec, clusters=targets or None))


def decode_object(text: bytes | msgspec.Raw, decoder: msgspec.json.Decoder[_Object]) -> _Object:
    """The same for any kind of object."""
    try:
        return decoder.decode(text)
    except msgspec.ValidationError:  # rare, so only then are the nulls looked for
        return msgspec.convert(_without_nulls(msgspec.json.decode(text)), decoder.type)


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(item) for name, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


binding_decoder: msgspec.json.Decoder[Binding] = msgspec.json.Decoder(Binding)
demand_decoder: msgspec.json.Decoder[Demand] = msgspec.json.Decoder(Demand)
