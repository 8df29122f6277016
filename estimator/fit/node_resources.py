"""The plugin that looks at nodes: pods and component sets against what is free on them.

Defined answers: an empty cluster takes nothing; a set without components, or with no replicas at all, is never too
much (no limit); a pod without requests still takes one of a node's pods; a resource that no node offers fits nowhere;
amounts and replica counts below zero count as zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from estimator.fit.amounts import scheduler_amounts
from estimator.fit.claim_match import ClaimMatch
from estimator.fit.fitting import Columns, Wanted, place_all, place_once
from estimator.fit.free_amounts import FreeAmounts
from estimator.fit.methods import WHOLE_SETS, Counted, Method, count_sets
from estimator.fit.model import NO_LIMIT, AssumedWorkload, Code, NextSet, PluginResult, Shortfall
from estimator.fit.node_claims import match_claim
from estimator.fit.node_index import NodeIndex
from estimator.fit.quota import tightest
from estimator.fit.reasons import component_match, is_shortage, next_set, sentence
from estimator.fit.state import ClusterState
from interpreters.core.errors import InputError
from interpreters.core.requirements import Component, ComponentRequirements, ReplicaRequirements

_POD: Final = "pod"


class NodeResources:
    """How much fits on the nodes, counted by one of the methods."""

    name: Final = "NodeResources"

    def __init__(self, method: Method = WHOLE_SETS, *, quotas: bool = True) -> None:
        self.method = method
        self.quotas = quotas  # whether quotas count in this estimate; sum and verify lets them decide

    def estimate(
        self, state: ClusterState, requirements: ReplicaRequirements, assumed: Sequence[AssumedWorkload] = ()
    ) -> PluginResult:
        view = state.view()
        free, left_out = _after_assumed(view, assumed)
        pod = _Seen.of(Component(_POD, 1, requirements), view.node_index)
        count, left = place_all(free, pod.wanted)
        stop = next_set(pod.wanted, 1, left, pod.match, view.node_index)
        return self._result(min(count, NO_LIMIT), [pod], stop, [f"the next pod: {sentence(stop)}"], left_out)

    def estimate_components(
        self,
        state: ClusterState,
        components: Sequence[Component],
        namespace: str,
        assumed: Sequence[AssumedWorkload] = (),
    ) -> PluginResult:
        view = state.view()
        seen = [_Seen.of(component, view.node_index) for component in components if component.replicas > 0]
        if not seen:
            return PluginResult(self.name, Code.SUCCESS, NO_LIMIT, ["a set without pods fits any number of times"])
        free, left_out = _after_assumed(view, assumed)
        wanted = [part.wanted for part in seen]
        counted = count_sets(
            self.method,
            free,
            wanted,
            quota_decides=lambda: self.quotas and tightest(state.quotas(namespace), components, ()) is not None,
        )
        return self._result(counted.sets, seen, *_why(counted, seen, view.node_index), left_out, counted.scarce)

    def _result(
        self,
        count: int,
        seen: Sequence[_Seen],
        stop: NextSet | None,
        reasons: list[str],
        left_out: list[str],
        scarce: Shortfall | None = None,
    ) -> PluginResult:
        return PluginResult(
            plugin=self.name,
            code=Code.SUCCESS if count else Code.UNSCHEDULABLE,
            count=count,
            reasons=reasons + [f"nothing is set aside for {workload}: it does not fit" for workload in left_out],
            binding=f"sum of free {scarce.resource}" if scarce else _binding(stop),
            components=[component_match(part.wanted, part.match) for part in seen],
            next_set=stop,
            shortfalls=[scarce] if scarce else stop.shortfalls if stop else [],
            assumed_left_out=left_out,
        )


@dataclass(frozen=True, slots=True)
class _Seen:
    """A component on the nodes: what it wants, and which nodes its claim admits."""

    wanted: Wanted
    match: ClaimMatch

    @staticmethod
    def of(component: Component, node_index: NodeIndex) -> _Seen:
        needs = component.replica_requirements or ComponentRequirements()
        match = match_claim(needs.node_claim, node_index)
        try:
            amounts = scheduler_amounts(needs.resource_request)
        except InputError as error:
            raise InputError(f"component {component.name}: resourceRequest.{error}") from None
        return _Seen(Wanted.of(component.name, component.replicas, amounts, match.admitted), match)


def _after_assumed(view: FreeAmounts, assumed: Sequence[AssumedWorkload]) -> tuple[Columns, list[str]]:
    """What the assumed workloads leave, and those that do not fit: they are left out whole."""
    free: Columns = view.columns
    left_out = []
    for workload in assumed:
        set_ = [_Seen.of(part, view.node_index).wanted for part in workload.components if part.replicas > 0]
        placed = place_once(free, set_)
        if placed.sets:
            free = placed.left
        else:
            names = "+".join(part.name for part in workload.components)
            left_out.append(f"assumed workload {workload.namespace}/{names}")
    return free, left_out


def _why(counted: Counted, seen: Sequence[_Seen], node_index: NodeIndex) -> tuple[NextSet | None, list[str]]:
    """What stops the set after the last one, as fields and as a sentence."""
    following = f"set {counted.sets + 1}"
    if counted.scarce:
        lack = counted.scarce
        return None, [f"{following}: all matching nodes together lack {lack.lacking} {lack.resource} of {lack.wanted}"]
    if counted.for_quota:
        return None, ["one set fits the nodes; how many is for the quota to say"]
    if counted.failed is None or counted.left is None:
        return None, []
    match = next(part.match for part in seen if part.wanted is counted.failed)
    stop = next_set(counted.failed, counted.missing, counted.left, match, node_index)
    return stop, [f"{following}: no place for {stop.missing} of {stop.wanted} {stop.component}: {sentence(stop)}"]


def _binding(stop: NextSet | None) -> str:
    """The commonest reason among nodes that the claim admits; where it admits none, among all."""
    if stop is None or not stop.reasons:
        return "the cluster has no nodes" if stop and not stop.nodes else ""
    short = [reason for reason in stop.reasons if is_shortage(reason.reason)] or stop.reasons
    return f"{stop.component}: {max(short, key=lambda reason: reason.nodes).reason}"
