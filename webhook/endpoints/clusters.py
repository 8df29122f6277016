"""The clusters that /estimate and /admit look at: pictures from files or live, followed in the background."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec

from estimator.clusters.cluster import Cluster, follow
from estimator.fit.bounds import check_components
from estimator.fit.estimation import estimate_replicas, estimate_sets
from estimator.fit.merge import tightest
from estimator.fit.model import NO_LIMIT, NO_OPINION, AssumedWorkload, Code, Estimate
from estimator.fit.state import ClusterState
from estimator.fit.summary import general_replicas, general_sets
from estimator.fit.threads import Lanes
from estimator.service.clusters import find_clusters
from estimator.service.precedence import Precedence
from estimator.service.settings import Settings as EstimatorSettings
from interpreters.background import end_tasks
from interpreters.core.errors import RequestError
from interpreters.core.requirements import Component, ReplicaRequirements, Wire

_AT_ONCE = 4  # estimates under way in one process; they share its cores with everything else


class ClusterAnswer(Wire, frozen=True, omit_defaults=False):
    """One cluster's estimate, and how old the picture is that it was made from."""

    cluster: str
    estimate: Estimate
    staleness_seconds: float | None


@dataclass(frozen=True, slots=True)
class Question:
    """What every cluster is asked: by its nodes, and by its Karmada Cluster object where its files hold one."""

    unit: str
    by_nodes: Callable[[ClusterState], Estimate]
    by_summary: Callable[[Mapping[str, Any]], Estimate]

    def answer(self, state: ClusterState | None, summary: Mapping[str, Any] | None) -> Estimate | None:
        """The smaller estimate; None when nothing is known of the cluster."""
        found = [self.by_nodes(state)] if state is not None else []
        found += [self.by_summary(summary)] if summary is not None else []
        return tightest(found) if found else None


def ask_for_sets(components: Sequence[Component], namespace: str, assumed: Sequence[AssumedWorkload] = ()) -> Question:
    return Question(
        "sets",
        lambda state: estimate_sets(state, components, namespace, assumed=assumed),
        lambda summary: general_sets(summary, components, assumed=assumed),
    )


def ask_for_replicas(requirements: ReplicaRequirements, assumed: Sequence[AssumedWorkload] = ()) -> Question:
    return Question(
        "replicas",
        lambda state: estimate_replicas(state, requirements, assumed=assumed),
        lambda summary: general_replicas(summary, requirements, assumed=assumed),
    )


@dataclass(slots=True)
class Clusters:
    """Answers questions about each of them; never blocks the event loop."""

    known: Mapping[str, Cluster]
    lanes: Lanes = field(default_factory=lambda: Lanes(_AT_ONCE))

    def select(self, names: Sequence[str]) -> list[Cluster]:
        """These, each once, or all. Raises `RequestError` naming the known ones."""
        unknown = next((name for name in names if name not in self.known), None)
        if unknown is not None:
            known = ", ".join(sorted(self.known))
            raise RequestError(f"clusters: {unknown!r:.80} is not known; known are {known}")
        return [self.known[name] for name in dict.fromkeys(names) or sorted(self.known)]

    async def ask(
        self, cluster: Cluster, question: Question, deadline: float | None = None, size: int = 0
    ) -> ClusterAnswer:
        """`size` is how many bytes the question has: large ones wait for each other. Raises `BusyError`."""
        state, summary = cluster.state(), cluster.summary()
        still = state.still() if state else None
        estimate = await self.lanes.run(size, deadline, question.answer, still, summary)
        if estimate is None:
            why = cluster.problem or "the cluster is being read"
            return ClusterAnswer(cluster.name, Estimate(question.unit, NO_OPINION, Code.NOOPERATION, [why]), None)
        if estimate.code is Code.ERROR:
            estimate = msgspec.structs.replace(estimate, count=NO_OPINION, replicas=None)
        return ClusterAnswer(cluster.name, estimate, round(cluster.staleness(), 3))

    async def fits(
        self, components: Sequence[Component], namespace: str, deadline: float | None = None
    ) -> list[tuple[str, int, str]]:
        """For each cluster how many sets it takes, no opinion counting as no limit, and what stops the next."""
        check_components(components)
        question, size = ask_for_sets(components, namespace), len(msgspec.json.encode(components))
        answers = [await self.ask(cluster, question, deadline, size) for cluster in self.select(())]
        return [
            (
                answer.cluster,
                NO_LIMIT if answer.estimate.count == NO_OPINION else answer.estimate.count,
                "; ".join(answer.estimate.reasons),
            )
            for answer in answers
        ]

    def some_may_fit(self, components: Sequence[Component], namespace: str) -> bool:
        """Whether one set fits somewhere; a cluster of which nothing is known has the benefit of the doubt. Blocks."""
        question = ask_for_sets(components, namespace)
        pictures = [(cluster.state(), cluster.summary()) for cluster in self.known.values()]
        answers = (question.answer(state.still() if state else None, summary) for state, summary in pictures)
        return any(estimate is None or estimate.fits for estimate in answers)

    async def unsynced(self) -> str | None:
        """For /readyz: which clusters have not been seen yet."""
        missing = [name for name, cluster in self.known.items() if not cluster.synced]
        return f"not read yet: {', '.join(missing)}" if missing else None


@asynccontextmanager
async def following(sources: Sequence[str]) -> AsyncIterator[Clusters]:
    """The clusters of the settings, kept up to date for as long as the block lasts."""
    known = find_clusters(EstimatorSettings(clusters=sources), Precedence())
    tasks = [asyncio.create_task(follow(cluster)) for cluster in known.values()]
    clusters = Clusters(known)
    try:
        yield clusters
    finally:
        clusters.lanes.close()
        await end_tasks(tasks)
