"""A scheduling decision as `interp schedule` makes it from files, and as it prints it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from estimator.model import NO_LIMIT, NO_OPINION
from estimator.placement.bindings import ClusterTarget, Interpreted, build_binding
from estimator.placement.checks import check_policy, is_policy
from estimator.placement.decision import Availability, Decision, GroupReport, Reason, Target, Verdict
from estimator.placement.policy import Cluster, Placement, read_cluster, read_placement
from estimator.placement.scheduling import Past
from estimator.snapshot.known import KnownCluster, known_from_folder
from interp.estimates import Question, Workload, answer, requirements_of
from interpreters.core.documents import Document
from interpreters.core.errors import DocumentError, InputError
from interpreters.core.requirements import Wire

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_CLUSTER_GROUP = "cluster.karmada.io/"
_EXCLUDED_SHOWN = 12  # rows of a group for clusters that it does not even select; the rest is counted


class ScheduleReport(Wire, frozen=True, omit_defaults=False):
    """Everything `-o json` prints."""

    workload: Workload
    policy: str
    strategy: str
    unit: str
    unavailable: list[str]
    before: Decision | None
    """With --unavailable: the decision that the failure undid."""

    decision: Decision
    clusters: list[dict[str, Any]]
    """`spec.clusters` of the binding."""

    warnings: list[str]


@dataclass(frozen=True, slots=True)
class Member:
    """A member cluster: its object as placement reads it, and all that is known of its room."""

    cluster: Cluster
    known: KnownCluster


def read_policy(documents: Sequence[Document], where: str) -> tuple[Document, Placement]:
    """The one policy of a file. Raises `InputError` when Karmada would refuse it."""
    policies = [document for document in documents if is_policy(document)]
    if len(policies) != 1:
        raise DocumentError(where, f"expected one PropagationPolicy or ClusterPropagationPolicy, got {len(policies)}")
    policy = policies[0]
    broken = [str(finding) for finding in check_policy(policy) if finding.level == "error"]
    if broken:
        raise DocumentError(where, "; ".join(broken))
    return policy, read_placement(policy["spec"].get("placement") or {})


def read_members(documents: Sequence[Document], where: str, nodes: Path | None) -> list[Member]:
    """The clusters, as `kubectl get clusters -o json` prints them, with the pictures of those that have one."""
    pictures = {known.name: known for known in _pictures(nodes)} if nodes else {}
    members: dict[str, Member] = {}
    for document in documents:
        if not str(document.get("apiVersion", "")).startswith(_CLUSTER_GROUP) or document.get("kind") != "Cluster":
            raise DocumentError(where, f"expected Clusters of {_CLUSTER_GROUP}v1alpha1, got {document.get('kind')}")
        try:
            cluster = read_cluster(document)
        except InputError as error:
            raise DocumentError(where, str(error)) from None
        if not cluster.name or cluster.name in members:
            raise DocumentError(where, f"cluster {cluster.name!r}: each needs a name of its own")
        picture = pictures.pop(cluster.name, KnownCluster(cluster.name))
        # Nodes that are known say more than a summary that is missing.
        summed = picture.state is None or "resourceSummary" in (document.get("status") or {})
        summary = document if summed else None
        members[cluster.name] = Member(cluster, KnownCluster(cluster.name, picture.state, summary))
    if not members:
        raise DocumentError(where, "no Cluster in it; print them with: kubectl get clusters -o json")
    if pictures:
        raise InputError(f"{nodes}: {', '.join(sorted(pictures))} is not among the clusters of {where}")
    return list(members.values())


def _pictures(folder: Path) -> Iterator[KnownCluster]:
    """A file or folder for each cluster, named after it."""
    if not folder.is_dir():
        raise InputError(f"{folder}: expected a folder with a file or folder for each cluster")
    for entry in sorted(folder.iterdir()):
        if not entry.name.startswith("."):
            yield from known_from_folder(entry, entry.name if entry.is_dir() else entry.name.partition(".")[0])


class _BindingSpec(Wire, frozen=True):
    clusters: list[Target] = []


class _BindingStatus(Wire, frozen=True):
    scheduler_observing_affinity_name: str = ""


class _Binding(Wire, frozen=True):
    kind: str = ""
    spec: _BindingSpec = _BindingSpec()
    status: _BindingStatus = _BindingStatus()


def read_past(binding: Document | None, observed: str | None, reschedule: bool) -> Past:
    """What a binding, if there is one, says of the last decision; `observed` overrides its name."""
    try:
        last = msgspec.convert(binding or {}, _Binding)
    except msgspec.ValidationError as error:
        raise InputError(f"the binding: {error}") from None
    if binding is not None and last.kind not in ("ResourceBinding", "ClusterResourceBinding"):
        raise InputError(
            f"the binding: expected a ResourceBinding or ClusterResourceBinding, got {last.kind or 'none'}"
        )
    name = last.status.scheduler_observing_affinity_name if observed is None else observed
    return Past(name, last.spec.clusters, reschedule)


def unknown_group(past: Past, placement: Placement) -> list[str]:
    """The warning that the group of the last decision is none of the policy's, so that the search begins anew."""
    names = [group.affinity_name for group in placement.groups if group.affinity_name]
    if not past.affinity_name or past.reschedule or past.affinity_name in names:
        return []
    known = f"its groups are {', '.join(names)}" if names else "it names no groups"
    return [f'the policy has no group "{past.affinity_name}", so the search starts at the first; {known}']


def estimating(
    workload: Workload, members: Sequence[Member], addresses: Mapping[str, str] | None = None
) -> Callable[[str], Availability | None]:
    """How much of the workload a cluster takes: replicas of one template, sets of several. The smallest answer counts:
    of its summary and models, of its nodes where they are known, of its estimator where one is named."""
    known = {member.cluster.name: member.known for member in members}
    question = Question(replicas=len(workload.components) == 1)

    def estimate(name: str) -> Availability | None:
        try:
            (found,) = answer(workload, [known[name]], question).clusters
        except InputError as error:
            raise InputError(f"cluster {name}: {error}") from None
        answers = [] if found.problem else [Availability(found.count, found.binding)]
        if addresses and name in addresses:
            answers.append(_remote(workload, name, addresses[name]))
        limits = [one for one in answers if one.count not in (NO_OPINION, NO_LIMIT)]
        return min(limits, key=lambda one: one.count, default=None)

    return estimate


def _remote(workload: Workload, cluster: str, address: str) -> Availability:
    from estimator.service.client import ask_replicas, ask_sets

    about = f"kind={workload.kind}, name={workload.namespace}/{workload.name}"
    if len(workload.components) == 1:
        needs = requirements_of(workload.components[0], workload.namespace)
        count = ask_replicas(address, cluster, needs, about=about)
    else:
        count = ask_sets(address, cluster, workload.components, workload.namespace, about=about)
    return Availability(count, f"the estimator at {address}")


def bind(
    workload: Mapping[str, Any], said: Interpreted, policy: Document, decision: Decision, *, cluster_scoped: bool
) -> dict[str, Any]:
    """The binding as it stands after the decision."""
    targets = [ClusterTarget(target.name, target.replicas) for target in decision.clusters]
    scope = True if cluster_scoped else None
    binding = build_binding(workload, said, policy=policy, targets=targets, gate=True, cluster_scoped=scope)
    if decision.recorded_affinity_name:
        binding["status"] = {"schedulerObservingAffinityName": decision.recorded_affinity_name}
    return binding


def print_report(report: ScheduleReport, console: Console) -> None:
    console.print(f"[bold]{_plain(str(report.workload))}[/]")
    console.print(f"[dim]{_plain(report.policy)}: {report.strategy}[/]\n")
    if report.before is not None:
        lost = ", ".join(report.unavailable)
        console.print(f"before: {_outcome(report.before, report.unit)}\nafter losing [red]{_plain(lost)}[/]:\n")
    for group in report.decision.groups:
        for part in _group(group, report):
            console.print(part)
        console.print()
    if report.decision.untried:
        console.print(f"[dim]not tried: {_plain(', '.join(report.decision.untried))}[/]\n")
    colour = "green" if report.decision.scheduled else "red"
    console.print(f"[{colour} bold]{_outcome(report.decision, report.unit)}[/]")


def _group(group: GroupReport, report: ScheduleReport) -> Iterator[RenderableType]:
    from rich.table import Table

    mark = "[red]✗[/]" if group.failure else "[green]✓[/]"
    name = f"group {group.position + 1}: {group.name}" if group.name else "clusters"
    failure = f" [red]— {_plain(group.failure.message)}[/]" if group.failure else ""
    yield f"{mark} [bold]{_plain(name)}[/]{failure}"
    rows = [one for one in group.clusters if one.verdict is not Verdict.EXCLUDED]
    excluded = [one for one in group.clusters if one.verdict is Verdict.EXCLUDED]
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for title, side in (("  CLUSTER", "left"), ("VERDICT", "left"), ("AVAILABLE", "right"), ("GETS", "right")):
        table.add_column(title, justify=side, no_wrap=True)  # type: ignore[arg-type]
    table.add_column("BECAUSE", overflow="fold")
    colours = {"chosen": "green", "filtered": "yellow", "excluded": "dim", "passedOver": "default"}
    for one in [*rows, *excluded[:_EXCLUDED_SHOWN]]:
        left_over = "not enough" if group.failure else "passed over"
        verdict = left_over if one.verdict is Verdict.PASSED_OVER else str(one.verdict)
        gets = "" if one.verdict is not Verdict.CHOSEN else "all" if one.replicas is None else str(one.replicas)
        because = one.detail or (f"next one stopped by {one.bound_by}" if one.bound_by else "")
        available = "" if one.available is None else str(one.available)
        overflow = f" (overflow {one.overflow})" if one.overflow else ""
        table.add_row(f"  {_plain(one.cluster)}", f"[{colours[one.verdict]}]{verdict}{overflow}[/]", available, gets,
                      _plain(because))  # fmt: skip
    yield table
    if len(excluded) > _EXCLUDED_SHOWN:
        yield f"  [dim]and {len(excluded) - _EXCLUDED_SHOWN} more excluded[/]"


def _outcome(decision: Decision, unit: str) -> str:
    recorded = decision.recorded_affinity_name
    if decision.failure is not None:
        empties = decision.failure.reason is Reason.NO_CLUSTER_FIT
        kept = "spec.clusters is emptied" if empties else "spec.clusters stays as it is"
        name = f"the recorded group stays {recorded!r}" if recorded else "no group is recorded"
        return _plain(f"{decision.failure.reason}: {decision.failure.message}; {name}, {kept}")
    places = ", ".join(f"{one.name}{'' if one.replicas is None else f' ({one.replicas})'}" for one in decision.clusters)
    whole = "all of it to " if unit == "sets" else "goes to "
    return _plain(f"{whole}{places or 'no cluster'}" + (f"; recorded group: {recorded}" if recorded else ""))


def _plain(text: str) -> str:
    """Text from files is printed as it stands: brackets in it are not markup."""
    from rich.markup import escape

    return escape(text)
