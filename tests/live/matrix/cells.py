"""What the matrix is made of: policies, and for each of them namespaces whose objects live through the same events."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from interpreters.core.kinds import GroupVersionKind
from tests.live.api import named
from tests.live.matrix.samples import Sample
from tests.live.peers import MEMBERS

STEP_LABEL = "matrix/step"  # tells which state of the template a member has
WEIGHTS = {"member1": 2, "member2": 1}


class Policy(Enum):
    """How a policy places objects; the value names its namespaces."""

    WEIGHTS = "weights"
    AGGREGATED = "aggregated"
    DUPLICATED = "duplicated"
    ONE = "one"

    def __str__(self) -> str:
        return _TITLES[self]

    @property
    def divides(self) -> bool:
        return self is not Policy.DUPLICATED

    @property
    def placement(self) -> dict[str, Any]:
        affinity = {"clusterAffinity": {"clusterNames": list(MEMBERS)}}
        if self is Policy.DUPLICATED:
            return {**affinity, "replicaScheduling": {"replicaSchedulingType": "Duplicated"}}
        if self is Policy.WEIGHTS:
            weights = [
                {"targetCluster": {"clusterNames": [name]}, "weight": weight} for name, weight in WEIGHTS.items()
            ]
            division = {"replicaDivisionPreference": "Weighted", "weightPreference": {"staticWeightList": weights}}
        else:
            division = {"replicaDivisionPreference": "Aggregated"}
        scheduling = {"replicaScheduling": {"replicaSchedulingType": "Divided", **division}}
        spread = [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}] if self is Policy.ONE else []
        return {**affinity, **scheduling, **({"spreadConstraints": spread} if spread else {})}


_TITLES = {
    Policy.WEIGHTS: "Divided by weights 2:1",
    Policy.AGGREGATED: "Divided, aggregated",
    Policy.DUPLICATED: "Duplicated",
    Policy.ONE: "Divided, aggregated, spread 1..1",
}


class Group(Enum):
    """The objects of a group live through the same events; the value begins the names of their namespaces."""

    ALONE = "alone"  # Karmada without interp
    AFTER = "after"  # interp is registered after they were made
    BEFORE = "before"  # and before
    DOWN = "down"  # made while interp is registered and does not answer
    ALL = "all"  # with `--all`
    DIVIDE = "divide"  # with `--divide` for their kinds
    COUNT = "count"  # with `--count` for their kinds
    OLD = "old"  # with a registration of everything that a script offers, which interp no longer makes


class Event(Enum):
    """What happens to an object."""

    CREATED = "created"
    RELABELLED = "relabelled"
    SCALED = "scaled"


@dataclass(frozen=True)
class Cell:
    """One object under one policy in one group."""

    sample: Sample
    policy: Policy
    group: Group

    def __str__(self) -> str:
        return f"{self.sample.kind} {self.sample.name}, {self.policy}, {self.group.value}"

    @property
    def namespace(self) -> str:
        return f"{self.group.value}-{self.policy.value}"

    @property
    def key(self) -> tuple[str, str, str]:
        return self.sample.kind.kind, self.namespace, self.sample.name

    @property
    def reference(self) -> dict[str, Any]:
        return named(self.sample.kind.api_version, self.sample.kind.kind, self.sample.name, self.namespace)

    def template(self, step: int) -> dict[str, Any]:
        obj = self.sample.object
        labels = {**obj["metadata"].get("labels", {}), STEP_LABEL: str(step)}
        return {**obj, "metadata": {**obj["metadata"], "namespace": self.namespace, "labels": labels}}

    @property
    def alone(self) -> Cell:
        """The same object with Karmada alone."""
        return Cell(self.sample, self.policy, Group.ALONE)


def cells_of(group: Group, samples: Sequence[Sample], policies: Collection[Policy]) -> list[Cell]:
    return [Cell(sample, policy, group) for policy in policies for sample in samples]


def propagation(namespace: str, policy: Policy, kinds: Collection[GroupVersionKind]) -> Mapping[str, Any]:
    """All objects of these kinds in a namespace, with what they need."""
    selectors = [{"apiVersion": kind.api_version, "kind": kind.kind} for kind in kinds]
    spec = {"resourceSelectors": selectors, "placement": policy.placement, "propagateDeps": True}
    return {**named("policy.karmada.io/v1alpha1", "PropagationPolicy", "matrix", namespace), "spec": spec}
