"""The nouns of an estimate: nodes and their taints, assumed workloads, and an answer with its reasons.

Answers are msgspec structs, so `msgspec.json.encode(estimate)` is the JSON every door prints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from estimator.fit.amounts import SchedulerAmounts, scheduler_amounts
from interpreters.core.errors import InputError
from interpreters.core.requirements import Component, Wire
from interpreters.core.resources import PODS

NO_LIMIT: Final = 2**31 - 1
"""Nothing stops it: the largest number the wire can carry."""

NO_OPINION: Final = -1
"""What a door answers when it cannot know, so that the other estimators decide."""


class Code(StrEnum):
    """How a plugin's answer is meant; an earlier one outweighs the later ones when answers are merged."""

    ERROR = "Error"
    UNSCHEDULABLE = "Unschedulable"
    SUCCESS = "Success"
    NOOPERATION = "Nooperation"


@dataclass(frozen=True, slots=True)
class Taint:
    key: str
    value: str
    effect: str

    def __str__(self) -> str:
        """As the Kubernetes scheduler words it: `{dedicated: ray}`."""
        return f"{{{self.key}: {self.value}}}"


@dataclass(frozen=True, slots=True)
class Node:
    """A node as far as placement cares. `pods` is how many pods it may hold."""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False
    allocatable: SchedulerAmounts = field(default_factory=lambda: SchedulerAmounts({}))
    pods: int = 0

    @staticmethod
    def of(node: Mapping[str, Any]) -> Node:
        """Read a Kubernetes Node object. Raises `InputError`."""
        metadata, spec = node.get("metadata") or {}, node.get("spec") or {}
        try:
            allocatable = scheduler_amounts((node.get("status") or {}).get("allocatable"))
        except InputError as error:
            raise InputError(f"status.allocatable.{error}") from None
        return Node(
            name=metadata.get("name", ""),
            labels=metadata.get("labels") or {},
            taints=tuple(
                Taint(taint.get("key", ""), taint.get("value") or "", taint.get("effect", ""))
                for taint in spec.get("taints") or ()
            ),
            unschedulable=bool(spec.get("unschedulable")),
            pods=allocatable.pop(PODS, 0),
            allocatable=allocatable,
        )


class AssumedWorkload(Wire, frozen=True):
    """A workload that was promised its place but is not there yet; it is placed first, whole or not at all."""

    components: list[Component] = []
    namespace: str = ""


class Shortfall(Wire, frozen=True):
    """What one resource lacks: `wanted` by the next pod or set, `free` at the best place for it."""

    resource: str
    wanted: str
    free: str
    lacking: str


class NodeReason(Wire, frozen=True):
    """Why some of the nodes do not take a pod."""

    reason: str
    nodes: int


class ComponentMatch(Wire, frozen=True, omit_defaults=False):
    """How a component sees the nodes: how many there are, how many its claim admits, why the others refuse it."""

    name: str
    replicas: int
    nodes: int
    matching: int
    reasons: list[NodeReason] = []


class NextSet(Wire, frozen=True):
    """What stops the set after the last one: the component that finds no place, and what it lacks."""

    component: str
    missing: int
    """Replicas of the component without a place, once everything before them was placed."""

    wanted: int
    nodes: int
    reasons: list[NodeReason] = []
    """Why the nodes refuse the first pod without a place; a node that lacks two resources counts for both."""

    node: str = ""
    """The node that comes closest to taking it."""

    shortfalls: list[Shortfall] = []
    """What is short on that node."""


class PluginResult(Wire, frozen=True, omit_defaults=False):
    """One plugin's own number, and why it is not larger."""

    plugin: str
    code: Code
    count: int = NO_LIMIT
    reasons: list[str] = []
    binding: str = ""
    """What sets this number, such as `quota team-a/compute: cpu`."""

    components: list[ComponentMatch] = []
    next_set: NextSet | None = None
    shortfalls: list[Shortfall] = []
    assumed_left_out: list[str] = []
    """Assumed workloads that fit nowhere, so nothing was set aside for them."""


class Estimate(Wire, frozen=True, omit_defaults=False):
    """How many fit, and what stops the next one."""

    unit: str
    """`sets` or `replicas`: what `count` counts."""

    count: int
    code: Code
    reasons: list[str] = []
    binding: str = ""
    """The plugin and the constraint that set the number; empty when nothing limits it."""

    plugins: list[PluginResult] = []
    components: list[ComponentMatch] = []
    next_set: NextSet | None = None
    shortfalls: list[Shortfall] = []
    replicas: int | None = None
    """The same answer in pods: sets times the replicas of one set. None when nothing limits it."""

    method: str = ""

    @property
    def fits(self) -> bool:
        return self.code is not Code.ERROR and self.count > 0
