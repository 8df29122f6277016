"""Why a live binding is where it is, or nowhere: read from Karmada, decided again, and explained."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import click

from estimator.accounting.exceeded_quotas import exceeded
from estimator.clusters.binding_context import BindingContext, policy_path, read_binding_context
from estimator.fit.model import NO_LIMIT, NO_OPINION
from estimator.placement.decision import Availability, ClusterVerdict, Decision, Demand, Estimating, GroupReport
from estimator.placement.diagnosis import (
    Diagnosis,
    Reason,
    Weight,
    demand_of_binding,
    looks_again,
    outcomes_of,
    reasons_of_binding,
    reasons_of_events,
    reasons_of_targets,
)
from estimator.placement.history import read_past
from estimator.placement.matching import policy_name
from estimator.placement.policy import Placement, read_placement
from estimator.placement.remedies import Circumstance, remedy
from estimator.placement.scheduling import Past, Question, decide
from estimator.placement.workload_affinity import peer, peers_of
from interp.estimates import Workload
from interp.options.karmada_release import release_of
from interp.output.messages import print_warning
from interp.verbs.schedule.decisions import Member, estimating, read_members
from interp.verbs.schedule.estimators import read_addresses
from interp.verbs.schedule.formats import OF_LIVE_BINDING
from interp.verbs.schedule.options import Options
from interpreters.core.karmada.api import BINDING, CLUSTER_BINDING, binding_name
from interpreters.core.karmada.releases import Release

if TYPE_CHECKING:
    from interpreters.core.documents import Document

_ONLY_FOR_FILES: Final = {
    "policy_files": "--policy", "cluster_files": "--clusters", "observed_affinity": "--observed-affinity",
    "priority_classes": "--priority-classes", "gates": "--feature-gates", "cluster_scoped": "--cluster-scoped",
    "rounding": "--rounding",
}  # fmt: skip


def explain_live(options: Options) -> int:
    """Exit code 1 when the binding is nowhere."""
    if len(options.bindings) != 1:
        raise click.UsageError("name a WORKLOAD, or one live binding by --binding NAMESPACE/NAME")
    for name, flag in _ONLY_FOR_FILES.items():
        if getattr(options, name) and click.get_current_context().get_parameter_source(name) is not _DEFAULT:
            raise click.UsageError(f"{flag} goes with a WORKLOAD; a live binding is read with all it needs")
    namespace, _, name = options.bindings[0].rpartition("/")
    if not name or "/" in namespace:
        raise click.UsageError(f'--binding: expected NAMESPACE/NAME, or NAME alone, got "{options.bindings[0]}"')
    context, release = asyncio.run(_read(options, namespace, name))
    found = explain(context, release, options)
    OF_LIVE_BINDING.print(options.output, found)
    for refused in context.unreadable:
        print_warning(f"left out: {refused}")
    return 0 if found.scheduled else 1


_DEFAULT: Final = click.core.ParameterSource.DEFAULT


async def _read(options: Options, namespace: str, name: str) -> tuple[BindingContext, Release]:
    from estimator.clusters.apiserver import ApiServer
    from estimator.clusters.kubeconfig import find_access

    async with ApiServer(find_access(options.kubeconfig, options.context)) as server:
        context = await read_binding_context(server, namespace, name)
        return context, await release_of(server, options.karmada)


def explain(context: BindingContext, release: Release, options: Options) -> Diagnosis:
    """The diagnosis of what was read."""
    kind = (BINDING if context.namespace else CLUSTER_BINDING).kind
    title = f"{kind} {'/'.join(filter(None, (context.namespace, context.name)))}"
    if context.binding is None:
        return Diagnosis(title, "", str(release), False, [], "", list(_missing(context)), None, [])
    binding = context.binding
    spec = binding.get("spec") or {}
    resource = spec.get("resource") or {}
    workload = "/".join(filter(None, (resource.get("namespace"), resource.get("name"))))
    reasons = list(reasons_of_binding(binding, context.policy, bool(policy_path(binding))))
    names = [(kind, context.name), (str(resource.get("kind")), str(resource.get("name")))]
    targets = list(spec.get("clusters") or ())
    followed = [one for snapshot in spec.get("requiredBy") or () for one in snapshot.get("clusters") or ()]
    scheduled = bool(targets or followed)
    reasons += reasons_of_events(context.events, names, "note" if scheduled else "blocks")
    title_of_workload = f"{resource.get('kind')} {workload}"
    if spec.get("placement") is None or not context.clusters:
        if not context.clusters:
            reasons.append(Reason("blocks", "clusters", "no member cluster is known", "join one: karmadactl join"))
        return Diagnosis(title, title_of_workload, str(release), scheduled, targets, "", reasons, None, [])
    placement, demand = read_placement(spec["placement"]), demand_of_binding(binding)
    members = read_members(context.clusters, "the live clusters", options.nodes)
    reasons += reasons_of_targets(binding, [member.cluster.name for member in members])
    past = read_past(binding, reschedule=options.reschedule, release=release).without(options.unavailable)
    decision = decide(_question(context, placement, demand, members, past, options.estimators), past)
    reasons += _quotas(context, decision)
    again = looks_again(binding, placement, [member.cluster for member in members])
    reasons += _elsewhere(targets, decision, again)
    about = {str((one.get("metadata") or {}).get("name")): one for one in context.clusters}
    known = {member.cluster.name: member.cluster for member in members}

    def change(verdict: ClusterVerdict, group: GroupReport) -> str:
        name = verdict.cluster
        return remedy(
            verdict, group, Circumstance(known[name], about[name], placement, demand, past.held.get(name) or 0)
        )

    groups = list(outcomes_of(decision, past.held, change))
    return Diagnosis(
        title, title_of_workload, str(release), scheduled, targets, again, reasons, decision, groups
    )  # fmt: skip


def _question(
    context: BindingContext,
    placement: Placement,
    demand: Demand,
    members: list[Member],
    past: Past,
    estimators: tuple[str, ...],
) -> Question:
    binding = context.binding or {}
    asked = Workload(
        demand.kind.api_version, demand.kind.kind, context.namespace, context.name, list(demand.components)
    )
    estimate = estimating(asked, members, read_addresses(estimators), in_sets=demand.is_whole)
    groups = (binding.get("spec") or {}).get("workloadAffinityGroups") or {}
    peers = peers_of(context.name, groups, [peer(other) for other in context.others])
    clusters = [member.cluster for member in members]
    return Question(placement, clusters, demand, _with_own(estimate, demand, past), "webster", peers)


def _with_own(estimate: Estimating, demand: Demand, past: Past) -> Estimating:
    """A cluster that runs the set already has room for it, though its pods are among those that fill the cluster."""

    def counted(name: str) -> Availability | None:
        found = estimate(name)
        if found is None or not demand.is_whole or name not in past.held or found.count in (NO_LIMIT, NO_OPINION):
            return found
        return Availability(found.count + 1, found.bound_by)

    return counted


def _quotas(context: BindingContext, decision: Decision) -> Iterator[Reason]:
    spec = (context.binding or {}).get("spec") or {}
    if not decision.scheduled:
        return
    clusters = [{"name": one.name, **({} if one.replicas is None else {"replicas": one.replicas})}
                for one in decision.clusters]  # fmt: skip
    for one in exceeded(context.binding or {}, clusters, context.quotas):
        what = f"{one.key}: {one.wanted} wanted beside {one.used} of {one.limit}, {one.short} too much"
        enforced = "where FederatedQuotaEnforcement or interp's admission is on, it is refused"
        weight: Weight = "note" if spec.get("clusters") else "blocks"
        yield Reason(weight, one.quota, what, f"raise the limit or free {one.short}; {enforced}")


def _elsewhere(targets: list[dict[str, Any]], decision: Decision, again: str) -> Iterator[Reason]:
    now = sorted(one["name"] for one in targets)
    chosen = sorted(one.name for one in decision.clusters)
    if not targets or not decision.scheduled or now == chosen:
        return
    what = f"decided today it would go to {', '.join(chosen)}"
    if again:
        yield Reason("note", "decision", f"{what}; Karmada decides again, since {again}")
    else:
        hint = "ask for a reschedule (a WorkloadRebalancer), or change the placement or the replicas"
        yield Reason("note", "decision", f"{what}, but Karmada does not look again by itself", hint)


def _missing(context: BindingContext) -> Iterator[Reason]:
    """Why there is no binding: no policy selects such a workload, or interpreting it failed."""
    yield Reason("blocks", "binding", "there is none by this name", "a binding is called <name>-<kind> in lower case")
    about = [(str(one.get("kind")), str(one.get("name"))) for event in context.events
             if (one := event.get("involvedObject") or {}) and _makes(context.name, one)]  # fmt: skip
    failed = list(reasons_of_events(context.events, about, "blocks"))
    yield from failed
    could = [policy_name(policy) for policy in context.policies if _could_select(policy, context.name)]
    if could:
        yield Reason("note", "policy", f"{', '.join(could)} could be about such a workload")
    else:
        yield Reason("blocks", "policy", "no policy selects a workload that would get this binding",
                     "apply a PropagationPolicy or ClusterPropagationPolicy whose resourceSelectors match")  # fmt: skip
    if not failed:
        yield Reason("note", "event", "no event tells of a failure: is the workload there?")


def _makes(name: str, involved: Document) -> bool:
    return binding_name(str(involved.get("kind", "")), str(involved.get("name", ""))) == name


def _could_select(policy: Mapping[str, Any], name: str) -> bool:
    for selector in (policy.get("spec") or {}).get("resourceSelectors") or ():
        kind = str(selector.get("kind", ""))
        if selector.get("name"):
            if binding_name(kind, str(selector["name"])) == name:
                return True
        elif name.endswith(f"-{kind.lower()}"):
            return True
    return False
