"""The plugins every cluster has: what its nodes take, and what its quotas allow."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

from estimator.fit.framework import Plugin, find_plugins
from estimator.fit.methods import WHOLE_SETS, Method
from estimator.fit.model import NO_LIMIT, AssumedWorkload, Code, PluginResult, Shortfall
from estimator.fit.node_resources import NodeResources
from estimator.fit.quota import Ceiling, doubts, tightest
from estimator.fit.state import ClusterState
from interpreters.core.requirements import Component, ReplicaRequirements

_POD: Final = "pod"


def default_plugins(method: Method = WHOLE_SETS, *, quotas: bool = True) -> list[Plugin]:
    """Nodes, quotas (unless switched off), and what installed packages add."""
    own: list[Plugin] = [NodeResources(method, quotas=quotas)]
    return own + ([ResourceQuota()] if quotas else []) + _installed()


_installed = cache(find_plugins)  # reading the entry points of all packages takes longer than an estimate


class ResourceQuota:
    """How much the namespace's quotas leave."""

    name: Final = "ResourceQuota"

    def estimate(
        self, state: ClusterState, requirements: ReplicaRequirements, assumed: Sequence[AssumedWorkload] = ()
    ) -> PluginResult:
        one = [Component(_POD, 1, requirements)]
        return self._answer(state, one, requirements.namespace, assumed, unlimited=Code.NOOPERATION)

    def estimate_components(
        self,
        state: ClusterState,
        components: Sequence[Component],
        namespace: str,
        assumed: Sequence[AssumedWorkload] = (),
    ) -> PluginResult:
        return self._answer(state, components, namespace, assumed, unlimited=Code.SUCCESS)

    def _answer(
        self,
        state: ClusterState,
        components: Sequence[Component],
        namespace: str,
        assumed: Sequence[AssumedWorkload],
        unlimited: Code,
    ) -> PluginResult:
        quotas = state.quotas(namespace)
        promised = [part for workload in assumed if workload.namespace == namespace for part in workload.components]
        ceiling = tightest(quotas, components, promised)
        reasons = doubts(quotas, components)
        if ceiling is None or ceiling.sets >= NO_LIMIT:
            return PluginResult(self.name, unlimited, NO_LIMIT, reasons)
        lack = _shortfall(ceiling)
        reasons.append(
            f"quota {ceiling.quota} has {lack.free} {ceiling.resource} free, "
            f"{lack.lacking} short of {ceiling.sets + 1} times {ceiling.wanted}"
        )
        code = Code.SUCCESS if ceiling.sets else Code.UNSCHEDULABLE
        binding = f"quota {ceiling.quota}, {ceiling.resource}"
        return PluginResult(self.name, code, ceiling.sets, reasons, binding, shortfalls=[lack])


def _shortfall(ceiling: Ceiling) -> Shortfall:
    """What the quota lacks for one more than it allows."""
    wanted = ceiling.wanted * (ceiling.sets + 1)
    return Shortfall(ceiling.resource, str(wanted), str(ceiling.free), str(wanted - ceiling.free))
