"""Scheduling workloads one after another, as karmada-scheduler takes them from its queue: highest priority first.

What one was promised is not free for the next, and with the feature gate WorkloadAffinity the next heeds where it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from estimator.fit.model import AssumedWorkload
from estimator.placement.bindings import ClusterTarget, build_binding
from estimator.placement.checks import doubts
from estimator.placement.decision import Decision, Demand
from estimator.placement.division import Rounding
from estimator.placement.history import read_past
from estimator.placement.matching import policy_name, unselected
from estimator.placement.policy import read_placement
from estimator.placement.priority import NO_PRIORITY, Priority
from estimator.placement.scheduling import Past, Question, decide, fail_over
from estimator.placement.workload_affinity import AffinityPeer, affinity_groups, peer, peers_of
from interp.estimates import Workload, requirements_of
from interp.verbs.schedule.decisions import Member, ScheduleReport, estimating, unknown_group
from interpreters.core.documents import Document
from interpreters.core.interpreted import Interpreted
from interpreters.core.karmada.api import WORKLOAD_AFFINITY, binding_name
from interpreters.core.karmada.releases import NEWEST, Release
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.requirements import Component


@dataclass(frozen=True, slots=True)
class Job:
    """A workload with what the scripts say of it, its policy, its priority, and its binding until now."""

    obj: Document
    said: Interpreted
    policy: Document
    priority: Priority = NO_PRIORITY
    binding: Document | None = None

    @property
    def namespace(self) -> str:
        return str((self.obj.get("metadata") or {}).get("namespace") or "default")

    @property
    def binding_name(self) -> str:
        return binding_name(str(self.obj.get("kind")), str((self.obj.get("metadata") or {}).get("name") or ""))


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What is the same for all workloads of one run."""

    members: Sequence[Member]
    addresses: Mapping[str, str] = field(default_factory=dict)
    release: Release = NEWEST
    gates: frozenset[str] = frozenset()
    rounding: Rounding = "largest-remainder"
    observed: str | None = None
    reschedule: bool = False
    unavailable: tuple[str, ...] = ()
    cluster_scoped: bool = False
    others: Sequence[Document] = ()  # bindings of workloads that are not scheduled now, but are there


def in_order(jobs: Sequence[Job], release: Release) -> list[Job]:
    """The order in which the scheduler takes them: by priority where it knows priorities, else as they came."""
    return sorted(jobs, key=lambda job: -job.priority.value) if release.schedules_by_priority else list(jobs)


def run(jobs: Sequence[Job], circumstances: Circumstances) -> Iterator[tuple[ScheduleReport, dict[str, Any]]]:
    """The report on each workload and its binding afterwards, in the order in which they are scheduled."""
    promised: dict[str, list[AssumedWorkload]] = {}
    placed = _placed_before(jobs, circumstances)
    for job in in_order(jobs, circumstances.release):
        peers = placed.setdefault(job.namespace, {})
        report, binding = _schedule(job, circumstances, promised, list(peers.values()))
        yield report, binding
        peers[job.binding_name] = peer(binding)
        for target in report.decision.clusters if report.decision.scheduled else ():
            parts = _sent(job.said.as_components, target.replicas)
            promised.setdefault(target.name, []).append(AssumedWorkload(parts, job.namespace))


def _placed_before(jobs: Sequence[Job], given: Circumstances) -> dict[str, dict[str, AffinityPeer]]:
    """By namespace and name, the bindings that are there already: of these workloads and of others."""
    placed: dict[str, dict[str, AffinityPeer]] = {}
    for binding in given.others:
        metadata = binding.get("metadata") or {}
        known = placed.setdefault(metadata.get("namespace") or "default", {})
        known[str(metadata.get("name"))] = peer(binding)
    for job in jobs:
        if job.binding is not None:
            placed.setdefault(job.namespace, {})[job.binding_name] = peer(job.binding)
    return placed


def _sent(components: Sequence[Component], replicas: int | None) -> list[Component]:
    """What a cluster got: all of it, or its share of the only component."""
    if replicas is None or len(components) != 1:
        return list(components)
    return [Component(components[0].name, replicas, components[0].replica_requirements)]


def _schedule(
    job: Job,
    given: Circumstances,
    promised: Mapping[str, Sequence[AssumedWorkload]],
    others: Sequence[AffinityPeer],
) -> tuple[ScheduleReport, dict[str, Any]]:
    metadata, kind = job.obj.get("metadata") or {}, GroupVersionKind.of(job.obj)
    asked = Workload(kind.api_version, kind.kind, job.namespace, metadata.get("name") or "",
                     list(job.said.as_components))  # fmt: skip
    placement = read_placement(job.policy["spec"].get("placement") or {})
    heeds_others = WORKLOAD_AFFINITY in given.gates
    groups = affinity_groups(placement.workload_affinity, metadata.get("labels") or {}) if heeds_others else {}
    demand = Demand.of(job.obj, job.said)
    clusters = [member.cluster for member in given.members]
    question = Question(
        placement, clusters, demand, estimating(asked, given.members, given.addresses, promised), given.rounding,
        peers_of(job.binding_name, groups, others),
    )  # fmt: skip
    past = read_past(job.binding, given.observed, given.reschedule, given.release)
    before, decision = _decide(question, past, given.unavailable, fails_over=job.binding is None)
    targets = [ClusterTarget(target.name, target.replicas) for target in decision.clusters]
    binding = build_binding(
        job.obj, _as_karmada_asks(job), policy=job.policy, targets=targets, gate=True, like="karmada",
        release=given.release,
        priority=job.priority.value if job.priority.is_set else None, affinity_groups=groups,
        cluster_scoped=True if given.cluster_scoped else None,
    )  # fmt: skip
    if decision.recorded_affinity_name:
        binding["status"] = {"schedulerObservingAffinityName": decision.recorded_affinity_name}
    warnings = [*unselected(job.policy, job.obj), *unknown_group(past, placement)]
    warnings += doubts(placement, demand, clusters, decision)
    warnings += [job.priority.problem] if job.priority.problem else []
    if placement.workload_affinity is not None and not heeds_others:
        gate = f"the feature gate {WORKLOAD_AFFINITY}, which is off by default"
        warnings.append(f"spec.placement.workloadAffinity is heeded only with {gate}: --feature-gates says otherwise")
    report = ScheduleReport(
        asked, policy_name(job.policy), job.priority.value, placement.strategy, demand.unit, list(given.unavailable),
        before, decision, binding["spec"].get("clusters") or [], warnings,
    )  # fmt: skip
    return report, binding


def _as_karmada_asks(job: Job) -> Interpreted:
    """One pod template is told by replicas, which can be divided; several by their components."""
    if len(job.said.as_components) != 1:
        return job.said
    (only,) = job.said.as_components
    return Interpreted(None, only.replicas, requirements_of(only, job.namespace))


def _decide(
    question: Question, past: Past, unavailable: Sequence[str], *, fails_over: bool
) -> tuple[Decision | None, Decision]:
    """The decision, and the one before it if clusters are to fail after a first one."""
    if unavailable and fails_over:
        before = decide(question, past)
        return before, fail_over(question, before, unavailable)
    return None, decide(question, past.without(unavailable))
