"""Estimates of workloads in clusters, as `interp estimate` and `interp schedule` ask for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from estimator.clusters.once import KnownCluster
from estimator.fit.methods import WHOLE_SETS, Method
from estimator.fit.model import NO_LIMIT, NO_OPINION, AssumedWorkload
from estimator.fit.plugins import default_plugins
from estimator.fit.question import Question as ClusterQuestion
from estimator.fit.question import Source, Ways, replicas_question, sets_question
from interpreters.core.requirements import Component, ReplicaRequirements, Wire


@dataclass(frozen=True, slots=True)
class Question:
    """How to estimate."""

    method: Method = WHOLE_SETS
    replicas: bool = False
    quotas: bool = True
    use_models: bool = True
    lenient: bool = False
    assumed: Sequence[AssumedWorkload] = ()
    """Workloads that were promised their place before: they are placed first."""


class Workload(Wire, frozen=True, omit_defaults=False):
    """What is to be placed: the pods that an object stands for."""

    api_version: str
    kind: str
    namespace: str
    name: str
    components: list[Component]

    def __str__(self) -> str:
        parts = ", ".join(f"{part.name} x {part.replicas}{_amounts(part)}" for part in self.components)
        return f"{self.kind} {self.namespace}/{self.name}: {parts}"


class ClusterAnswer(Wire, frozen=True, omit_defaults=False):
    """One cluster's answer: the smallest of its estimators'. -1 means that nothing is known."""

    cluster: str
    unit: str
    count: int
    replicas: int | None
    fits: bool
    binding: str
    problem: str
    staleness_seconds: float | None
    estimates: list[Source]


class WorkloadAnswer(Wire, frozen=True, omit_defaults=False):
    workload: Workload
    clusters: list[ClusterAnswer]

    @property
    def fits(self) -> bool:
        return any(answer.fits for answer in self.clusters)


class EstimateReport(Wire, frozen=True, omit_defaults=False):
    """Everything that `interp estimate -o json` prints; it fits when every workload has a cluster with room."""

    fits: bool
    workloads: list[WorkloadAnswer]


def answer(workload: Workload, clusters: Sequence[KnownCluster], question: Question) -> WorkloadAnswer:
    asked = _asked(workload, question)
    return WorkloadAnswer(workload, [_in_cluster(asked, cluster, question) for cluster in clusters])


def _in_cluster(asked: ClusterQuestion, cluster: KnownCluster, question: Question) -> ClusterAnswer:
    unit = "replicas" if question.replicas else "sets"
    answered = asked.ask(cluster.state, cluster.summary, cluster.problem or "nothing is known of it")
    smallest, sources = answered.estimate, list(answered.sources)
    if not answered.has_opinion:
        problem = "; ".join(smallest.reasons)
        return ClusterAnswer(cluster.name, unit, NO_OPINION, None, False, "", problem, cluster.staleness, sources)
    pods = smallest.count if smallest.unit == "replicas" else smallest.replicas
    replicas = None if smallest.count == NO_LIMIT else pods
    count = (NO_LIMIT if replicas is None else replicas) if question.replicas else smallest.count
    fits, binding = smallest.fits, smallest.binding
    return ClusterAnswer(cluster.name, unit, count, replicas, fits, binding, "", cluster.staleness, sources)


def _asked(workload: Workload, question: Question) -> ClusterQuestion:
    """A single template is asked for in replicas; several components can only be counted in sets, told in replicas."""
    ways = Ways(
        question.assumed, question.method, default_plugins(question.method, quotas=question.quotas),
        question.use_models, question.lenient,
    )  # fmt: skip
    if question.replicas and len(workload.components) == 1:
        return replicas_question(requirements_of(workload.components[0], workload.namespace), ways)
    return sets_question(workload.components, workload.namespace, ways)


def requirements_of(component: Component, namespace: str) -> ReplicaRequirements:
    asked = component.replica_requirements or ReplicaRequirements()
    return ReplicaRequirements(asked.node_claim, asked.resource_request, asked.priority_class_name, namespace)


def _amounts(component: Component) -> str:
    requested = component.replica_requirements.resource_request if component.replica_requirements else {}
    return f" ({', '.join(f'{name} {amount}' for name, amount in sorted(requested.items()))})" if requested else ""
