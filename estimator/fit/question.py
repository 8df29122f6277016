"""One question to the estimators of a cluster, and their answer put together: the smallest, or -1 where one failed.

Command line, webhook and gRPC all ask here. By its nodes a cluster answers accurately, by its Karmada Cluster object in
general; what is not known is not asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from estimator.fit.estimation import estimate_replicas, estimate_sets
from estimator.fit.framework import Plugin
from estimator.fit.merge import tightest
from estimator.fit.methods import WHOLE_SETS, Method
from estimator.fit.model import NO_OPINION, AssumedWorkload, Code, Estimate
from estimator.fit.state import ClusterState
from estimator.fit.summary import general_replicas, general_sets
from interpreters.core.requirements import Component, ReplicaRequirements, Wire


class Source(Wire, frozen=True, omit_defaults=False):
    """One estimator's answer: from the cluster's nodes (`accurate`) or from its summary and models (`general`)."""

    estimator: str
    estimate: Estimate


@dataclass(frozen=True, slots=True)
class Answered:
    """What the estimators of one cluster say, and which of them counts."""

    estimate: Estimate
    sources: Sequence[Source] = ()

    @property
    def has_opinion(self) -> bool:
        return self.estimate.count != NO_OPINION


@dataclass(frozen=True, slots=True)
class Ways:
    """How to estimate."""

    assumed: Sequence[AssumedWorkload] = ()
    """Workloads that were promised their place before: they are placed first."""

    method: Method = WHOLE_SETS
    plugins: Sequence[Plugin] | None = None
    """Of the accurate estimator; None means the default ones."""

    use_models: bool = True
    lenient: bool = False


DEFAULT_WAYS = Ways()


@dataclass(frozen=True, slots=True)
class Question:
    """How many replicas or sets fit."""

    unit: Literal["replicas", "sets"]
    by_nodes: Callable[[ClusterState], Estimate]
    by_summary: Callable[[Mapping[str, Any]], Estimate]

    def ask(
        self, state: ClusterState | None, summary: Mapping[str, Any] | None = None, unknown: str = "nothing is known"
    ) -> Answered:
        """The smallest estimate; -1 (no opinion) when one failed, or, for the reason `unknown`, when nobody knows."""
        sources = [Source("accurate", self.by_nodes(state))] if state is not None else []
        sources += [Source("general", self.by_summary(summary))] if summary is not None else []
        if not sources:
            return Answered(Estimate(self.unit, NO_OPINION, Code.NOOPERATION, [unknown]))
        smallest = tightest([source.estimate for source in sources])
        if smallest.code is Code.ERROR:
            smallest = msgspec.structs.replace(smallest, count=NO_OPINION, replicas=None)
        return Answered(smallest, sources)


def sets_question(components: Sequence[Component], namespace: str, ways: Ways = DEFAULT_WAYS) -> Question:
    return Question(
        "sets",
        lambda state: estimate_sets(
            state, components, namespace, assumed=ways.assumed, method=ways.method, plugins=ways.plugins
        ),
        lambda summary: general_sets(
            summary, components, assumed=ways.assumed, use_models=ways.use_models, lenient=ways.lenient
        ),
    )


def replicas_question(requirements: ReplicaRequirements | None, ways: Ways = DEFAULT_WAYS) -> Question:
    return Question(
        "replicas",
        lambda state: estimate_replicas(state, requirements, assumed=ways.assumed, plugins=ways.plugins),
        lambda summary: general_replicas(
            summary, requirements, assumed=ways.assumed, use_models=ways.use_models, lenient=ways.lenient
        ),
    )
