"""Trying scheduling groups in order: which one takes the workload, what its clusters get, and why not the others.

The first group tried is the observed one (the first of all when nothing was observed, when the name is unknown, or when
a reschedule was asked for). The first group that schedules wins. When all fail, the recorded name stays, the first
failure is the one reported, and `spec.clusters` is emptied only if that failure was that no cluster fits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from estimator.fit.model import NO_LIMIT, NO_OPINION
from estimator.placement.affinity import mismatch
from estimator.placement.assignment import Sharing, assign
from estimator.placement.decision import (
    Availability,
    ClusterVerdict,
    Decision,
    Demand,
    Estimating,
    Failure,
    FailureReason,
    GroupReport,
    Target,
    Verdict,
)
from estimator.placement.division import Rounding
from estimator.placement.filters import Obstacle, obstacle
from estimator.placement.policy import Cluster, ClusterAffinityTerm, Placement
from estimator.placement.spread import Candidate, choose
from estimator.placement.workload_affinity import ALONE, AffinityPeers

_WORDS: Final = {
    "clusterNames": "not among clusterNames", "labelSelector": "not selected by labels",
    "fieldSelector": "not selected by fields", "exclude": "on the exclude list", "notReady": "not ready",
    "taint": "with a taint that is not tolerated", "api": "without the API", "deleting": "being deleted",
    "unavailable": "unavailable", "topology": "without the topology to spread by",
    "eviction": "that the workload is being evicted from",
    "together": "without the workloads that it belongs together with",
    "apart": "with a workload that it must keep apart from",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Question:
    """Everything a decision is made from. `estimate` is asked once for each cluster that could take the workload."""

    placement: Placement
    clusters: Sequence[Cluster]
    demand: Demand
    estimate: Estimating
    rounding: Rounding = "largest-remainder"
    peers: AffinityPeers = ALONE


@dataclass(frozen=True, slots=True)
class Past:
    """What the binding says before: the group it was scheduled with, and the clusters that hold it.

    A reschedule starts at the first group, and shares out replicas without regard to where they are.
    """

    affinity_name: str = ""
    targets: Sequence[Target] = ()
    reschedule: bool = False
    unavailable: Collection[str] = ()
    """Clusters that failed: what they held is gone, and they take nothing."""

    keeps_group: bool = False
    """A reschedule starts at the observed group, as it did up to Karmada 1.18."""

    evicting: Mapping[str, str] = field(default_factory=dict)
    """Clusters that the workload is being evicted from, and why: they take nothing."""

    held: dict[str, int | None] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        held = {one.name: one.replicas for one in self.targets if one.name not in self.unavailable}
        object.__setattr__(self, "held", held)

    def without(self, unavailable: Collection[str]) -> Past:
        """The same after these clusters failed."""
        return replace(self, unavailable=unavailable)

    @property
    def starts_anew(self) -> bool:
        """Whether the search begins at the first group whatever was observed."""
        return self.reschedule and not self.keeps_group


def decide(question: Question, past: Past | None = None) -> Decision:
    """Where the workload goes."""
    past = past or Past()
    groups = question.placement.groups
    names = [group.affinity_name for group in groups]
    known = past.affinity_name in names and not past.starts_anew
    start = names.index(past.affinity_name) if known else 0
    asked = _Asked(question, past)
    reports: list[GroupReport] = []
    for position, group in enumerate(groups[start:], start):
        report, targets = _try_group(group, position, asked)
        reports.append(report)
        if report.failure is None:
            untried = names[:start] + names[position + 1 :]
            return Decision(True, past.affinity_name, group.affinity_name, targets, reports, untried)
    first = reports[0].failure
    empties = first is not None and first.reason is FailureReason.NO_CLUSTER_FIT
    kept = [] if empties else [Target(name, replicas) for name, replicas in past.held.items()]
    return Decision(False, past.affinity_name, past.affinity_name, kept, reports, names[:start], first)


def fail_over(question: Question, before: Decision, unavailable: Collection[str]) -> Decision:
    """The decision again after clusters failed that it had chosen: first in its own group, then in the next ones."""
    past = Past(before.recorded_affinity_name, before.clusters, unavailable=unavailable)

    def estimate(name: str) -> Availability | None:
        # What the first decision placed is not among the pods of the clusters yet, so it is taken off here.
        found = question.estimate(name)
        held = past.held.get(name) or 0
        if found is None or found.count in (NO_LIMIT, NO_OPINION):
            return found
        return Availability(max(found.count - held, 0), found.bound_by)

    return decide(replace(question, estimate=estimate), past)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question under way. A cluster that stands in several groups is looked at once."""

    question: Question
    past: Past
    _obstacles: dict[str, Obstacle | None] = field(default_factory=dict)
    _estimates: dict[str, Availability | None] = field(default_factory=dict)

    def obstacle(self, cluster: Cluster) -> Obstacle | None:
        name = cluster.name
        if name not in self._obstacles:
            self._obstacles[name] = obstacle(
                cluster, self.question.placement, self.question.demand.kind,
                is_target=name in self.past.held, unavailable=self.past.unavailable,
                evicting=self.past.evicting, peers=self.question.peers,
            )  # fmt: skip
        return self._obstacles[name]

    def estimate(self, name: str) -> Availability | None:
        """None also for an object without pods, which takes no room."""
        if name not in self._estimates:
            self._estimates[name] = self.question.estimate(name) if self.question.demand.components else None
        return self._estimates[name]

    def free(self, name: str) -> int:
        """What the estimate says; a cluster that nothing limits counts with what is wanted, as in Karmada."""
        found = self.estimate(name)
        if found is None or found.count in (NO_LIMIT, NO_OPINION):
            return int(self.question.demand.is_whole) or self.question.demand.replicas
        return found.count


def _try_group(group: ClusterAffinityTerm, position: int, asked: _Asked) -> tuple[GroupReport, list[Target]]:
    verdicts: dict[str, ClusterVerdict] = {}
    candidates: list[Candidate] = []
    has_pods = bool(asked.question.demand.components)
    for name, found in _sorted_out(group, asked):
        if isinstance(found, ClusterVerdict):
            verdicts[name] = found
            continue
        candidates.append(found)
        bound = asked.estimate(name)
        available = found.available if has_pods else None
        because = bound.bound_by if bound else ""
        verdicts[name] = ClusterVerdict(
            name, Verdict.PASSED_OVER, available=available, bound_by=because, overflow=found.overflow
        )
    placed = _place(candidates, group, asked) if candidates else _none_fits(verdicts)
    if isinstance(placed, Failure):
        return GroupReport(group.affinity_name, position, list(verdicts.values()), placed), []
    targets = {target.name: target for target in placed}
    clusters = [_chosen(verdict, targets[name]) if name in targets else verdict for name, verdict in verdicts.items()]
    return GroupReport(group.affinity_name, position, clusters), placed


def _sorted_out(group: ClusterAffinityTerm, asked: _Asked) -> Iterator[tuple[str, ClusterVerdict | Candidate]]:
    """Each cluster: excluded, filtered, or a candidate with what it has free."""
    overflows = (group.overflow_affinities or []) if asked.question.demand.components else []
    held = asked.past.held
    positions = {name: position for position, name in enumerate(held)}
    for cluster in asked.question.clusters:
        name = cluster.name
        excluded_by = mismatch(cluster, group)
        overflow = 0
        if excluded_by is not None:
            overflow = next((n for n, one in enumerate(overflows, 1) if mismatch(cluster, one) is None), 0)
            if not overflow:
                yield name, ClusterVerdict(name, Verdict.EXCLUDED, excluded_by, _WORDS[excluded_by])
                continue
        found = asked.obstacle(cluster)
        if found is not None:
            yield name, ClusterVerdict(name, Verdict.FILTERED, *found, overflow=overflow)
        else:
            yield name, Candidate(cluster, asked.free(name), held.get(name) or 0, positions.get(name), overflow)


def _place(candidates: Sequence[Candidate], group: ClusterAffinityTerm, asked: _Asked) -> list[Target] | Failure:
    question = asked.question
    chosen = choose(candidates, question.placement, question.demand)
    if isinstance(chosen, Failure):
        return chosen
    sharing = Sharing(question.placement, question.demand, question.rounding, asked.past.reschedule)
    return assign(chosen, sharing, in_tiers=group.overflow_affinities is not None)


def _none_fits(verdicts: dict[str, ClusterVerdict]) -> Failure:
    if not verdicts:
        return Failure(FailureReason.NO_CLUSTER_FIT, "there are no clusters")
    counts = Counter(_WORDS[verdict.by] for verdict in verdicts.values())
    reasons = ", ".join(f"{count} {words}" for words, count in counts.items())
    return Failure(FailureReason.NO_CLUSTER_FIT, f"0 of {len(verdicts)} clusters fit: {reasons}")


def _chosen(verdict: ClusterVerdict, target: Target) -> ClusterVerdict:
    return ClusterVerdict(
        verdict.cluster, Verdict.CHOSEN, available=verdict.available, bound_by=verdict.bound_by,
        replicas=target.replicas, overflow=verdict.overflow,
    )  # fmt: skip
