"""A scheduling decision as `interp schedule` makes it from files: what it reads, what it asks, what it reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from estimator.clusters.once import KnownCluster, known_from_folder
from estimator.fit.model import NO_LIMIT, NO_OPINION, AssumedWorkload
from estimator.placement.checks import check_policy
from estimator.placement.decision import Availability, Decision
from estimator.placement.matching import is_policy
from estimator.placement.policy import Cluster, Placement, read_cluster
from estimator.placement.scheduling import Past
from interp.estimates import Question, Workload, answer, requirements_of
from interpreters.core.documents import Document
from interpreters.core.errors import DocumentError, InputError
from interpreters.core.karmada.api import CLUSTER
from interpreters.core.requirements import Wire


class ScheduleReport(Wire, frozen=True, omit_defaults=False):
    """Everything `interp schedule -o json` prints for one workload."""

    workload: Workload
    policy: str
    priority: int
    """What the policy's PriorityClass says; of several workloads the highest is scheduled first."""

    strategy: str
    unit: str
    unavailable: list[str]
    before: Decision | None
    """With --unavailable: the decision that the failure undid."""

    decision: Decision
    clusters: list[dict[str, Any]]
    """`spec.clusters` of the binding."""

    warnings: list[str]


class ScheduleReports(Wire, frozen=True, omit_defaults=False):
    """The same for several workloads, in the order in which they were scheduled."""

    schedules: list[ScheduleReport]


@dataclass(frozen=True, slots=True)
class Member:
    """A member cluster: its object as placement reads it, and all that is known of its room."""

    cluster: Cluster
    known: KnownCluster


def read_policies(documents: Sequence[Document], where: str) -> list[Document]:
    """The policies of files. Raises `InputError` when Karmada would refuse the placement of one."""
    policies = [document for document in documents if is_policy(document)]
    if not policies:
        raise DocumentError(where, "expected one PropagationPolicy or ClusterPropagationPolicy, got 0")
    for policy in policies:
        broken = [str(one) for one in check_policy(policy) if one.level == "error" and one.rule == "placement"]
        if broken:
            raise DocumentError(where, "; ".join(broken))
    return policies


def read_members(documents: Sequence[Document], where: str, nodes: Path | None) -> list[Member]:
    """The clusters, as `kubectl get clusters -o json` prints them, with the nodes of those that have one."""
    with_nodes = {known.name: known for known in _known_nodes(nodes)} if nodes else {}
    members: dict[str, Member] = {}
    for document in documents:
        if not CLUSTER.describes(document):
            raise DocumentError(where, f"expected Clusters of {CLUSTER.api_version}, got {document.get('kind')}")
        try:
            cluster = read_cluster(document)
        except InputError as error:
            raise DocumentError(where, str(error)) from None
        if not cluster.name or cluster.name in members:
            raise DocumentError(where, f"cluster {cluster.name!r}: each needs a name of its own")
        known_nodes = with_nodes.pop(cluster.name, KnownCluster(cluster.name))
        # Nodes that are known say more than a summary that is missing.
        summed = known_nodes.state is None or "resourceSummary" in (document.get("status") or {})
        summary = document if summed else None
        members[cluster.name] = Member(cluster, KnownCluster(cluster.name, known_nodes.state, summary))
    if not members:
        raise DocumentError(where, "no Cluster in it; print them with: kubectl get clusters -o json")
    if with_nodes:
        raise InputError(f"{nodes}: {', '.join(sorted(with_nodes))} is not among the clusters of {where}")
    return list(members.values())


def _known_nodes(folder: Path) -> Iterator[KnownCluster]:
    """A file or folder for each cluster, named after it."""
    if not folder.is_dir():
        raise InputError(f"{folder}: expected a folder with a file or folder for each cluster")
    for entry in sorted(folder.iterdir()):
        if not entry.name.startswith("."):
            yield from known_from_folder(entry, entry.name if entry.is_dir() else entry.name.partition(".")[0])


def unknown_group(past: Past, placement: Placement) -> list[str]:
    """The warning that the group of the last decision is none of the policy's, so that the search begins anew."""
    names = [group.affinity_name for group in placement.groups if group.affinity_name]
    if not past.affinity_name or past.starts_anew or past.affinity_name in names:
        return []
    known = f"its groups are {', '.join(names)}" if names else "it names no groups"
    return [f'the policy has no group "{past.affinity_name}", so the search starts at the first; {known}']


def estimating(
    workload: Workload,
    members: Sequence[Member],
    addresses: Mapping[str, str] | None = None,
    assumed: Mapping[str, Sequence[AssumedWorkload]] | None = None,
    *,
    in_sets: bool = False,
) -> Callable[[str], Availability | None]:
    """How much of the workload a cluster takes: replicas of one template, sets of several. The smallest answer counts:
    of its summary and models, of its nodes where they are known, of its estimator where one is named. `assumed` are
    workloads that were sent to a cluster before and are not among its pods yet; `in_sets` counts sets of one, too."""
    known = {member.cluster.name: member.known for member in members}
    replicas = len(workload.components) == 1 and not in_sets

    def estimate(name: str) -> Availability | None:
        before = (assumed or {}).get(name, ())
        try:
            (found,) = answer(workload, [known[name]], Question(replicas=replicas, assumed=before)).clusters
        except InputError as error:
            raise InputError(f"cluster {name}: {error}") from None
        answers = [] if found.problem else [Availability(found.count, found.binding)]
        if addresses and name in addresses:
            answers.append(_remote(workload, name, addresses[name], before, in_sets=not replicas))
        limits = [one for one in answers if one.count not in (NO_OPINION, NO_LIMIT)]
        return min(limits, key=lambda one: one.count, default=None)

    return estimate


def _remote(
    workload: Workload, cluster: str, address: str, assumed: Sequence[AssumedWorkload], *, in_sets: bool
) -> Availability:
    from estimator.service.client import ask_replicas, ask_sets

    about = f"kind={workload.kind}, name={workload.namespace}/{workload.name}"
    if not in_sets:
        needs = requirements_of(workload.components[0], workload.namespace)
        count = ask_replicas(address, cluster, needs, about=about, assumed=assumed)
    else:
        parts, namespace = workload.components, workload.namespace
        count = ask_sets(address, cluster, parts, namespace, about=about, assumed=assumed)
    return Availability(count, f"the estimator at {address}")
