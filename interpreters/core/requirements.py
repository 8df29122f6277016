"""The nouns of a reply: components, their requirements and node claims, and dependencies.

They are msgspec structs because they cross the wire on the hot path: decoding checks types and drops unknown fields,
encoding leaves empty fields out. ResourceList stay text here; `Quantity.parse` (cached) turns them into numbers.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from interpreters.core.quantity import Quantity

ResourceList = dict[str, str]  # resource name to quantity text
MOST_REPLICAS: Final = 2**31 - 1  # Karmada counts them in 32 bits


class Wire(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """Base of everything that travels as JSON: camelCase names, empty fields left out."""


class NodeSelectorRequirement(Wire, frozen=True):
    key: str
    operator: str
    values: list[str] = []


class NodeSelectorTerm(Wire, frozen=True):
    match_expressions: list[NodeSelectorRequirement] = []
    match_fields: list[NodeSelectorRequirement] = []


class NodeSelector(Wire, frozen=True):
    """Required node affinity: the terms are alternatives, the requirements of one term all count."""

    node_selector_terms: list[NodeSelectorTerm]


class Toleration(Wire, frozen=True):
    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


class NodeClaim(Wire, frozen=True):
    """Which nodes a pod may run on."""

    hard_node_affinity: NodeSelector | None = None
    node_selector: dict[str, str] = {}
    tolerations: list[Toleration] = []


class ComponentRequirements(Wire, frozen=True):
    """What one pod of a component needs."""

    node_claim: NodeClaim | None = None
    resource_request: ResourceList = {}
    priority_class_name: str = ""

    def amounts(self) -> dict[str, Quantity]:
        """The requests as exact numbers."""
        return {name: Quantity.parse(text) for name, text in self.resource_request.items()}


class ReplicaRequirements(ComponentRequirements, frozen=True):
    """What one pod needs, as the single-template reply says it: with a namespace."""

    namespace: str = ""


class Component(Wire, frozen=True):
    """A group of equal pods."""

    name: str
    replicas: int
    replica_requirements: ComponentRequirements | None = None

    def amounts(self) -> dict[str, Quantity]:
        return self.replica_requirements.amounts() if self.replica_requirements else {}


class LabelSelectorRequirement(Wire, frozen=True):
    key: str
    operator: str
    values: list[str] = []


class LabelSelector(Wire, frozen=True):
    match_labels: dict[str, str] = {}
    match_expressions: list[LabelSelectorRequirement] = []


class Dependency(Wire, frozen=True):
    """Another object that must go where the workload goes: by name, or by labels."""

    api_version: str
    kind: str
    namespace: str = ""
    name: str = ""
    label_selector: LabelSelector | None = None
