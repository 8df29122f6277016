"""The few fields of nodes and pods that estimation reads, decoded from JSON without building anything else.

Pods of one workload ask for the same, so what a pod requests is worked out once per distinct text of its resources.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import Final

import msgspec

from estimator.fit.amounts import scheduler_amount, scheduler_amounts
from estimator.fit.model import Node, Taint
from estimator.fit.state import PodAmounts
from interpreters.core.errors import InputError, InterpError
from interpreters.core.pod_spec import Container, PodSpec, Resources
from interpreters.core.pods import pod_requests
from interpreters.core.resources import PODS

TERMINATED: Final = ("Succeeded", "Failed")
_NOTHING: Final = msgspec.Raw(b"null")


class _Record(msgspec.Struct, rename="camel", gc=False):
    """Unknown fields are skipped while decoding."""


class OwnerReference(_Record):
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = False


class _PodLabels(_Record):
    template_hash: str = msgspec.field(default="", name="pod-template-hash")


class _PodMetadata(_Record):
    name: str
    namespace: str = ""
    labels: _PodLabels | None = None
    owner_references: list[OwnerReference] | None = None


class _ContainerRecord(_Record):
    resources: msgspec.Raw = _NOTHING
    restart_policy: str | None = None


class _PodSpecRecord(_Record):
    node_name: str = ""
    containers: list[_ContainerRecord] | None = None
    init_containers: list[_ContainerRecord] | None = None
    resources: msgspec.Raw = _NOTHING
    overhead: msgspec.Raw = _NOTHING


class Condition(_Record):
    type: str = ""
    status: str = ""
    reason: str | None = ""
    last_transition_time: str | None = ""


class _PodStatus(_Record):
    phase: str = ""
    conditions: msgspec.Raw = _NOTHING  # read only of pods that have no node


class PodRecord(_Record):
    """A pod as far as estimation cares."""

    metadata: _PodMetadata
    spec: _PodSpecRecord | None = None
    status: _PodStatus | None = None

    @property
    def key(self) -> str:
        return f"{self.metadata.namespace}/{self.metadata.name}"

    @property
    def node(self) -> str:
        """The node it takes room on; empty while it waits and once it has terminated."""
        if self.spec is None or (self.status is not None and self.status.phase in TERMINATED):
            return ""
        return self.spec.node_name

    @property
    def controller(self) -> OwnerReference | None:
        return next((owner for owner in self.metadata.owner_references or () if owner.controller), None)

    def amounts(self) -> PodAmounts:
        """What it requests, in scheduler units. Raises `InputError`."""
        spec = self.spec or _PodSpecRecord()
        try:
            return _amounts(
                tuple(bytes(container.resources) for container in spec.containers or ()),
                tuple((bytes(step.resources), step.restart_policy) for step in spec.init_containers or ()),
                bytes(spec.resources),
                bytes(spec.overhead),
            )
        except (InterpError, msgspec.MsgspecError) as error:
            raise InputError(f"Pod {self.key}: {error}") from None

    def condition(self, type: str) -> Condition | None:
        if self.status is None:
            return None
        conditions = msgspec.json.decode(self.status.conditions, type=list[Condition] | None)
        return next((condition for condition in conditions or () if condition.type == type), None)


class _TaintRecord(_Record):
    key: str = ""
    value: str | None = ""
    effect: str = ""


class _NodeMetadata(_Record):
    name: str
    labels: dict[str, str] | None = None


class _NodeSpec(_Record):
    taints: list[_TaintRecord] | None = None
    unschedulable: bool | None = False


class _NodeStatus(_Record):
    allocatable: dict[str, str | int | float] | None = None


class NodeRecord(_Record):
    """A node as far as estimation cares."""

    metadata: _NodeMetadata
    spec: _NodeSpec | None = None
    status: _NodeStatus | None = None

    def node(self) -> Node:
        spec, status = self.spec or _NodeSpec(), self.status or _NodeStatus()
        try:
            allocatable = scheduler_amounts(status.allocatable)
        except InputError as error:
            raise InputError(f"Node {self.metadata.name}: status.allocatable.{error}") from None
        return Node(
            name=self.metadata.name,
            labels={sys.intern(key): sys.intern(value) for key, value in (self.metadata.labels or {}).items()},
            taints=tuple(Taint(taint.key, taint.value or "", taint.effect) for taint in spec.taints or ()),
            unschedulable=bool(spec.unschedulable),
            pods=allocatable.pop(PODS, 0),
            allocatable=allocatable,
        )


@lru_cache(maxsize=16384)
def _amounts(
    containers: tuple[bytes, ...],
    init_containers: tuple[tuple[bytes, str | None], ...],
    resources: bytes,
    overhead: bytes,
) -> PodAmounts:
    spec = PodSpec(
        containers=[Container(resources=_resources(text)) for text in containers],
        init_containers=[Container(resources=_resources(text), restart_policy=p) for text, p in init_containers],
        resources=_resources(resources),
        overhead=msgspec.json.decode(overhead, type=dict[str, str | int | float] | None),
    )
    return tuple(
        (sys.intern(name), amount)
        for name, quantity in sorted(pod_requests(spec).items())
        if (amount := scheduler_amount(name, quantity))
    )


def _resources(text: bytes) -> Resources | None:
    return msgspec.json.decode(text, type=Resources | None)
