"""What is wrong, doubtful or worth knowing about a policy: broken rules, groups without clusters, estimates ignored.

An error is what Karmada refuses. A warning is what it accepts and will not do as meant. Information changes nothing: a
cluster may well be in several groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from estimator.placement.affinity import matches
from estimator.placement.bounds import shortened
from estimator.placement.decision import Decision, Demand
from estimator.placement.filters import lists_apis
from estimator.placement.findings import PolicyFinding
from estimator.placement.policy import Cluster, Placement, read_placement
from estimator.placement.release_checks import release_findings
from estimator.placement.spread import TOPOLOGY
from estimator.placement.validation import violations
from interpreters.core.errors import InputError
from interpreters.core.karmada.releases import NEWEST, Release
from interpreters.core.kinds import GroupVersionKind

_PLACEMENT: Final = "spec.placement"
_SELECTORS: Final = "spec.resourceSelectors"


def _no_kind(kind: GroupVersionKind) -> bool:
    return False


def check_policy(
    policy: Mapping[str, Any],
    clusters: Sequence[Cluster] | None = None,
    *,
    several: Callable[[GroupVersionKind], bool] = _no_kind,
    release: Release = NEWEST,
) -> list[PolicyFinding]:
    """Everything worth saying about a policy; with clusters also about the groups they make.

    `several` tells which kinds have several components: that is for their scripts to say."""
    spec = policy.get("spec")
    if not isinstance(spec, Mapping):
        return [PolicyFinding("error", "placement", "spec", "expected an object with resourceSelectors and placement")]
    spec, cut = shortened(spec)
    try:
        placement = read_placement(spec.get("placement") or {})
        kinds = _selected_kinds(spec)
    except InputError as error:
        where, _, problem = str(error).partition(": ")
        return [PolicyFinding("error", "placement", where, problem)]
    broken = [PolicyFinding("error", "placement", one.field, one.detail) for one in violations(placement)]
    skipped = [PolicyFinding("warning", "too-many", *one) for one in cut]
    findings = [*broken, *skipped, *_component_findings(placement, kinds, several), *_topology_findings(placement)]
    findings += release_findings(spec, placement, release)
    return findings if clusters is None else [*findings, *_group_findings(placement, clusters)]


def doubts(placement: Placement, demand: Demand, clusters: Sequence[Cluster], decision: Decision) -> list[str]:
    """What to know about a decision: where Karmada ignores the estimate, and what was assumed."""
    found = []
    if demand.is_whole:
        found += [finding.message for finding in _for_components(placement, str(demand.kind))]
    found += [finding.message for finding in _topology_findings(placement)]
    if len(demand.components) == 1 and demand.replicas == 0:
        found.append("it has no replicas: Karmada sends it to no cluster unless told to propagate empty workloads")
    if demand.components and not demand.is_whole and placement.strategy == "Duplicated" and decision.winner:
        found += [
            f"Duplicated looks at no estimate: {one.cluster} has room for {one.available} of {one.replicas} replicas"
            for one in decision.winner.clusters
            if one.replicas is not None and one.available is not None and one.available < one.replicas
        ]
    silent = [cluster.name for cluster in clusters if not lists_apis(cluster)]
    if silent:
        found.append(f"{_some(silent)}: no status.apiEnablements, so every API is taken to be enabled")
    return found


def _selected_kinds(spec: Mapping[str, Any]) -> list[tuple[str, GroupVersionKind]]:
    selectors = spec.get("resourceSelectors") or []
    if not isinstance(selectors, list):
        raise InputError(f"{_SELECTORS}: expected a list")
    found = []
    for i, selector in enumerate(selectors):
        if not isinstance(selector, Mapping):
            raise InputError(f"{_SELECTORS}[{i}]: expected an object")
        kind = GroupVersionKind.parse(str(selector.get("apiVersion", "")), str(selector.get("kind", "")))
        found.append((f"{_SELECTORS}[{i}]", kind))
    return found


def _component_findings(
    placement: Placement, kinds: Sequence[tuple[str, GroupVersionKind]], several: Callable[[GroupVersionKind], bool]
) -> Iterator[PolicyFinding]:
    selected = [str(kind) for _, kind in kinds if several(kind)]
    if selected:
        yield from _for_components(placement, ", ".join(dict.fromkeys(selected)))


def _for_components(placement: Placement, what: str) -> Iterator[PolicyFinding]:
    """What Karmada needs to see before it counts whole sets of several components."""
    if not placement.takes_one_cluster or placement.strategy == "StaticWeight":
        where, rule = f"{_PLACEMENT}.spreadConstraints", "multi-component-spread"
        wish = "set spreadByField: cluster with minGroups: 1 and maxGroups: 1"
        if placement.strategy == "StaticWeight":
            where, wish = f"{_PLACEMENT}.replicaScheduling", "with static weights spread constraints do not count"
        # API servers may cut warnings after 256 characters, and what to set comes last.
        lack = "has several components and is not bound to one cluster: Karmada sends all of it to every one selected"
        yield PolicyFinding("warning", rule, where, f"{what} {lack}; {wish}")
    if placement.strategy == "Duplicated":
        yield PolicyFinding(
            "warning", "multi-component-divided", f"{_PLACEMENT}.replicaScheduling",
            f"{what} has several components and replicaSchedulingType is Duplicated: Karmada asks for the estimate and "
            "ignores it; set Divided with replicaDivisionPreference: Aggregated",
        )  # fmt: skip


def _topology_findings(placement: Placement) -> Iterator[PolicyFinding]:
    for i, constraint in enumerate(placement.spread_constraints):
        if constraint.spread_by_field in TOPOLOGY[1:]:
            yield PolicyFinding(
                "warning", "spread-not-done", f"{_PLACEMENT}.spreadConstraints[{i}].spreadByField",
                f"Karmada does not spread by {constraint.spread_by_field}; it only leaves out clusters that have none",
            )  # fmt: skip


def _group_findings(placement: Placement, clusters: Sequence[Cluster]) -> Iterator[PolicyFinding]:
    named = bool(placement.cluster_affinities)
    standing: dict[str, list[str]] = {}
    for i, group in enumerate(placement.groups):
        members = [cluster.name for cluster in clusters if matches(cluster, group)]
        for name in members:
            standing.setdefault(name, []).append(group.affinity_name)
        if not members:
            where = f"{_PLACEMENT}.clusterAffinities[{i}]" if named else f"{_PLACEMENT}.clusterAffinity"
            what = f"no cluster of {len(clusters)} matches group {group.affinity_name!r}" if named else (
                f"no cluster of {len(clusters)} matches"
            )  # fmt: skip
            yield PolicyFinding("warning", "unreachable-group", where, what)
    together: dict[tuple[str, ...], list[str]] = {}
    for name, groups in standing.items():
        together.setdefault(tuple(groups), []).append(name)
    for shared, names in together.items():
        if len(shared) > 1:
            what = f"{_some(names)} {'is' if len(names) == 1 else 'are'} in several groups: {_some(shared, 10)}"
            yield PolicyFinding("information", "shared-cluster", f"{_PLACEMENT}.clusterAffinities", what)


def _some(names: Sequence[str], most: int = 3) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
