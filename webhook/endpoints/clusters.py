"""The clusters that /estimate and /admit look at: mirrors from files or live, followed in the background."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import msgspec

from estimator.clusters.cluster import Cluster, follow, why_unknown
from estimator.fit.bounds import check_components
from estimator.fit.model import NO_LIMIT, NO_OPINION, Estimate
from estimator.fit.question import Question, sets_question
from estimator.fit.threads import EstimateThreads
from estimator.service.clusters import find_clusters
from estimator.service.precedence import Precedence
from estimator.service.settings import Settings as EstimatorSettings
from interpreters.background import end_tasks
from interpreters.core.errors import RequestError
from interpreters.core.requirements import Component, Wire

_AT_ONCE = 4  # estimates under way in one process; they share its cores with everything else


class ClusterAnswer(Wire, frozen=True, omit_defaults=False):
    """One cluster's estimate, and how old the mirror is that it was made from."""

    cluster: str
    estimate: Estimate
    staleness_seconds: float | None


@dataclass(slots=True)
class Clusters:
    """Answers questions about each of them; never blocks the event loop."""

    known: Mapping[str, Cluster]
    threads: EstimateThreads = field(default_factory=lambda: EstimateThreads(_AT_ONCE))

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
        answered = await self.threads.run(size, deadline, question.ask, still, summary, why_unknown(cluster))
        staleness = round(cluster.staleness(), 3) if answered.sources else None
        return ClusterAnswer(cluster.name, answered.estimate, staleness)

    async def fits(
        self, components: Sequence[Component], namespace: str, deadline: float | None = None
    ) -> list[tuple[str, int, str]]:
        """For each cluster how many sets it takes, no opinion counting as no limit, and what stops the next."""
        check_components(components)
        question, size = sets_question(components, namespace), len(msgspec.json.encode(components))
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
        question = sets_question(components, namespace)
        looked_at = [(cluster.state(), cluster.summary()) for cluster in self.known.values()]
        answers = (question.ask(state.still() if state else None, summary) for state, summary in looked_at)
        return any(not answered.sources or answered.estimate.fits for answered in answers)

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
        clusters.threads.close()
        await end_tasks(tasks)
