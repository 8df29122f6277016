"""The two questions of an estimate, asked of every plugin: how many replicas fit, how many whole sets of components."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from estimator.fit.framework import Plugin, merge_results, run_plugins
from estimator.fit.methods import WHOLE_SETS, Method
from estimator.fit.model import NO_LIMIT, AssumedWorkload, Estimate
from estimator.fit.plugins import default_plugins
from estimator.fit.state import ClusterState
from interpreters.core.requirements import Component, ReplicaRequirements


def estimate_replicas(
    state: ClusterState,
    requirements: ReplicaRequirements | None,
    *,
    assumed: Sequence[AssumedWorkload] = (),
    plugins: Sequence[Plugin] | None = None,
) -> Estimate:
    """How many pods like this the cluster takes. The namespace in the requirements decides which quotas count."""
    asked = default_plugins() if plugins is None else plugins
    wanted = requirements or ReplicaRequirements()
    return merge_results(run_plugins(asked, lambda plugin: plugin.estimate(state, wanted, assumed)), "replicas")


def estimate_sets(
    state: ClusterState,
    components: Sequence[Component],
    namespace: str,
    *,
    assumed: Sequence[AssumedWorkload] = (),
    method: Method = WHOLE_SETS,
    plugins: Sequence[Plugin] | None = None,
) -> Estimate:
    """How many whole sets of the components the cluster takes."""
    asked = default_plugins(method) if plugins is None else plugins
    results = run_plugins(asked, lambda plugin: plugin.estimate_components(state, components, namespace, assumed))
    merged = merge_results(results, "sets", method=method.name)
    if merged.count == NO_LIMIT:
        return merged
    pods = sum(max(component.replicas, 0) for component in components)
    return msgspec.structs.replace(merged, replicas=merged.count * pods)
