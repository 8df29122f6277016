"""Why a binding is where it is, or nowhere: what its fields, its condition, its policy, quotas and events show.

Cluster by cluster the scheduler's decision is made again from what was read, and each verdict comes with what would
change it. Whether Karmada itself will decide again is another matter: it does so only for certain changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal

import msgspec

from estimator.placement.decision import Decision, Demand, GroupReport, Verdict
from estimator.placement.history import is_reschedule_due
from estimator.placement.policy import Cluster, Placement
from interpreters.core.karmada.api import APPLIED_PLACEMENT, MANAGED_BY
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.requirements import Component, ComponentRequirements, Wire

DEFAULT_SCHEDULER: Final = "default-scheduler"
_MOST_EVENTS: Final = 5
_TOLD_BY_CONDITION: Final = "ScheduleBindingFailed"  # the Scheduled condition says the same

Object = Mapping[str, Any]
Weight = Literal["blocks", "note"]


class Reason(Wire, frozen=True, omit_defaults=False):
    """One thing that explains the state: what it is about, what it is, and what would change it."""

    weight: Weight
    about: str
    what: str
    remedy: str = ""


class ClusterOutcome(Wire, frozen=True, omit_defaults=False):
    """One cluster in one group: what it holds now, the verdict, and what would change that."""

    cluster: str
    verdict: Verdict
    holds: bool
    available: int | None
    because: str
    remedy: str


class GroupOutcome(Wire, frozen=True, omit_defaults=False):
    name: str
    failure: str
    clusters: list[ClusterOutcome]


class Diagnosis(Wire, frozen=True, omit_defaults=False):
    """Everything `interp schedule --binding` says of a live binding."""

    binding: str
    workload: str
    karmada: str
    scheduled: bool
    clusters: list[dict[str, Any]]
    """`spec.clusters` as it is."""

    looks_again: str
    """Why Karmada will decide again now; empty when it will not until something changes."""

    reasons: list[Reason]
    decision: Decision | None
    """What would be decided now, from what was read; None when there is nothing to decide from."""

    groups: list[GroupOutcome]


class _Requirements(ComponentRequirements, frozen=True):
    namespace: str = ""


class _Spec(Wire, frozen=True):
    replicas: int = 0
    replica_requirements: _Requirements | None = None
    components: list[Component] = []


def demand_of_binding(binding: Object) -> Demand:
    """What the scheduler sees: components if there are any, else replicas of one template, else no pods."""
    spec = binding.get("spec") or {}
    said = msgspec.convert({key: spec[key] for key in ("replicas", "replicaRequirements", "components") if key in spec},
                           _Spec)  # fmt: skip
    resource = spec.get("resource") or {}
    kind = GroupVersionKind.parse(str(resource.get("apiVersion", "")), str(resource.get("kind", "")))
    uid, counted = str(resource.get("uid", "")), bool(said.replicas or said.replica_requirements)
    if said.components and not (counted and len(said.components) == 1):
        return Demand(kind, tuple(said.components), uid, undivided=True)
    if not counted:
        return Demand(kind, (), uid)
    needs = said.replica_requirements
    request = needs and ComponentRequirements(needs.node_claim, needs.resource_request, needs.priority_class_name)
    return Demand(kind, (Component("main", said.replicas, request),), uid)


def looks_again(binding: Object, placement: Placement, clusters: Sequence[Cluster]) -> str:
    """Why karmada-scheduler decides again; empty when it leaves the binding as it is."""
    spec, status = binding.get("spec") or {}, binding.get("status") or {}
    targets = spec.get("clusters") or []
    applied = ((binding.get("metadata") or {}).get("annotations") or {}).get(APPLIED_PLACEMENT)
    if not applied:
        return "it was never scheduled"
    if msgspec.json.decode(applied) != (spec.get("placement") or {}):
        return "its placement changed since the last decision"
    divided = placement.strategy != "Duplicated"
    shares = [target.get("replicas") or 0 for target in targets]
    if not spec.get("components") and spec.get("replicas"):
        wanted = [sum(shares)] if divided else shares
        if any(share != spec["replicas"] for share in wanted):
            return f"it wants {spec['replicas']} replicas and its clusters have {', '.join(map(str, shares)) or 'none'}"
    if is_reschedule_due(spec.get("rescheduleTriggeredAt"), status.get("lastScheduledTime")):
        return "a reschedule was asked for since the last decision"
    if not divided or not (spec.get("components") or spec.get("replicas")):
        return "what is duplicated is decided again at every event"
    going = [one.name for one in clusters if one.metadata.deletion_timestamp]
    gone = [target["name"] for target in targets if target.get("name") in going]
    return f"{', '.join(gone)} is being deleted" if gone else ""


def reasons_of_binding(binding: Object, policy: Object | None, named_policy: bool) -> Iterator[Reason]:
    """What the binding itself and its policy show."""
    metadata, spec, status = (binding.get(part) or {} for part in ("metadata", "spec", "status"))
    suspension = spec.get("suspension") or {}
    if metadata.get("deletionTimestamp"):
        yield Reason("blocks", "binding", "it is being deleted", "nothing: its workload or policy is gone")
    if suspension.get("scheduling"):
        yield Reason("blocks", "suspension", "spec.suspension.scheduling is true: the scheduler leaves it alone",
                     "set it to false")  # fmt: skip
    if suspension.get("dispatching") or suspension.get("dispatchingOnClusters"):
        yield Reason("note", "suspension", "dispatching is suspended: what is scheduled does not reach the clusters",
                     "take spec.suspension off the policy")  # fmt: skip
    scheduler = spec.get("schedulerName") or DEFAULT_SCHEDULER
    if scheduler != DEFAULT_SCHEDULER:
        yield Reason("note", "schedulerName", f"{scheduler} decides, not karmada-scheduler", f"is {scheduler} running?")
    labels = metadata.get("labels") or {}
    required = spec.get("requiredBy") or []
    if not any(labels.get(label) for label in MANAGED_BY) and not required:
        yield Reason("blocks", "policy", "no policy claims the binding, so the scheduler passes it over",
                     "is there still a policy that selects the workload?")  # fmt: skip
    for one in required:
        where = ", ".join(str(target.get("name")) for target in one.get("clusters") or ()) or "no cluster"
        yield Reason("note", "requiredBy", f"it follows {one.get('name')}, which is in {where}")
    if named_policy and policy is None:
        yield Reason("note", "policy", "the policy that made it cannot be found: the binding keeps its last placement",
                     "apply a policy that selects the workload")  # fmt: skip
    elif policy is not None and ((policy.get("spec") or {}).get("placement") or {}) != (spec.get("placement") or {}):
        yield Reason("note", "policy", "its policy says another placement than the binding: it was not passed on",
                     "see the events of the workload: interpreting it may fail")  # fmt: skip
    yield from _condition(metadata, spec, status)


_AFTER: Final[Mapping[str, str]] = {
    "NoClusterFit": "see the clusters below",
    "Unschedulable": "see the clusters below",
    "QuotaExceeded": "raise the FederatedResourceQuota, or remove or shrink workloads: interp audit shows them",
    "SchedulerError": "see the log of karmada-scheduler",
}


def _condition(metadata: Object, spec: Object, status: Object) -> Iterator[Reason]:
    found = next((one for one in status.get("conditions") or () if one.get("type") == "Scheduled"), None)
    if found is None:
        if not spec.get("requiredBy"):
            weight: Weight = "note" if spec.get("clusters") else "blocks"
            yield Reason(weight, "Scheduled", "karmada-scheduler has not looked at it yet", "is karmada-scheduler up?")
        return
    if found.get("status") != "True":
        said = f"{found.get('reason')}: {found.get('message')}"
        yield Reason("blocks", "Scheduled", said, _AFTER.get(str(found.get("reason")), ""))
    seen, now = status.get("schedulerObservedGeneration"), metadata.get("generation")
    if seen is not None and now is not None and seen < now:
        yield Reason("note", "Scheduled", f"the scheduler has seen generation {seen} of {now}",
                     "wait, or see that karmada-scheduler is up")  # fmt: skip


def reasons_of_targets(binding: Object, clusters: Sequence[str]) -> Iterator[Reason]:
    """Clusters that the binding, or what it follows, still names and that are no more. The scheduler looks at clusters
    that are being deleted, not at those that are gone."""
    spec = binding.get("spec") or {}
    lost = [one for one in spec.get("clusters") or () if one.get("name") not in clusters]
    if lost:
        named = ", ".join(_share(one) for one in lost)
        yield Reason("note", "clusters", f"{named}: it is assigned there, and there is no such cluster any more",
                     "ask for a reschedule (a WorkloadRebalancer), or join the cluster again")  # fmt: skip
    for snapshot in spec.get("requiredBy") or ():
        gone = [str(one.get("name")) for one in snapshot.get("clusters") or () if one.get("name") not in clusters]
        if gone:
            yield Reason("note", "requiredBy", f"it follows {snapshot.get('name')} to {', '.join(gone)}, "
                         "and there is no such cluster any more", "reschedule what it follows")  # fmt: skip


def _share(target: Object) -> str:
    return (
        f"{target.get('name')} ({target['replicas']} replicas)" if target.get("replicas") else str(target.get("name"))
    )


def reasons_of_events(events: Sequence[Object], names: Sequence[tuple[str, str]], weight: Weight) -> Iterator[Reason]:
    """Warnings about the binding or its workload, newest first, each message once. `names` are kinds and names."""

    def about(event: Object) -> tuple[str, str]:
        involved = event.get("involvedObject") or {}
        return str(involved.get("kind", "")), str(involved.get("name", ""))

    def when(event: Object) -> str:
        series = event.get("series") or {}
        moments = (series.get("lastObservedTime"), event.get("lastTimestamp"), event.get("eventTime"))
        return next((str(moment) for moment in moments if moment), "")

    warned = [event for event in events if event.get("type") == "Warning" and about(event) in names]
    said: dict[str, str] = {}
    for event in sorted(warned, key=when, reverse=True):
        if event.get("reason") == _TOLD_BY_CONDITION:
            continue
        said.setdefault(f"{event.get('reason')}: {event.get('message')}", str(event.get("reason")))
    for text, reason in list(said.items())[:_MOST_EVENTS]:
        asks = reason in ("GetComponentsFailed", "GetReplicasFailed", "ApplyPolicyFailed")
        hint = "ask it yourself: interp run, interp doctor" if asks else ""
        yield Reason(weight if asks else "note", "event", text, hint)


def outcomes_of(
    decision: Decision, held: Mapping[str, Any], remedy: Callable[[Any, GroupReport], str]
) -> Iterator[GroupOutcome]:
    """The groups of a decision, each cluster with what would change its verdict."""
    for group in decision.groups:
        clusters = [
            ClusterOutcome(
                one.cluster, one.verdict, one.cluster in held, one.available,
                one.detail or (f"next one stopped by {one.bound_by}" if one.bound_by else ""),
                remedy(one, group),
            )
            for one in group.clusters
        ]  # fmt: skip
        yield GroupOutcome(group.name, group.failure.message if group.failure else "", clusters)
