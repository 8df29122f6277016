"""Recorded answers of Karmada's own estimators come out of ours: nodes, general and quota."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from estimator.fit.estimation import estimate_replicas, estimate_sets
from estimator.fit.model import NO_LIMIT, AssumedWorkload
from estimator.fit.node_resources import NodeResources
from estimator.fit.plugins import ResourceQuota
from estimator.fit.state import ClusterState
from estimator.fit.summary import general_replicas, general_sets
from interpreters.core.requirements import Component, ReplicaRequirements

VECTORS = Path(os.environ.get("VECTORS_DIR") or Path(__file__).parents[1] / "vectors")

Case = dict[str, Any]


def cases(name: str) -> list[Any]:
    recorded = json.loads((VECTORS / f"{name}.json").read_text())
    return [pytest.param(case, id=f"{name}-{number}") for number, case in enumerate(recorded)]


def state_of(case: Case) -> ClusterState:
    return ClusterState([*(case.get("nodes") or ()), *(case.get("pods") or ()), *(case.get("resourceQuotas") or ())])


def components_of(described: list[Any] | None) -> list[Component]:
    return msgspec.convert(described or [], list[Component])


def requirements_of(case: Case) -> ReplicaRequirements | None:
    return msgspec.convert(case.get("replicaRequirements"), ReplicaRequirements | None)


def assumed_of(case: Case) -> list[AssumedWorkload]:
    return [AssumedWorkload(components_of(set_)) for set_ in case.get("assumedWorkloads") or ()]


@pytest.mark.parametrize("case", cases("accurate-replicas"))
def test_replicas_on_nodes(case: Case) -> None:
    estimate = estimate_replicas(state_of(case), requirements_of(case))
    assert estimate.count == case["maxReplicas"], estimate.reasons


@pytest.mark.parametrize("case", cases("accurate-component-sets"))
def test_component_sets_on_nodes(case: Case) -> None:
    estimate = estimate_sets(
        state_of(case),
        components_of(case["components"]),
        "default",
        assumed=assumed_of(case),
        plugins=[NodeResources()],
    )
    assert estimate.count == case["maxSets"], estimate.reasons


@pytest.mark.parametrize("case", cases("general"))
def test_replicas_and_sets_from_the_cluster_object(case: Case) -> None:
    if "components" in case:
        estimate = general_sets(case["cluster"], components_of(case["components"]))
        assert estimate.count == case["maxSets"], estimate.reasons
    else:
        estimate = general_replicas(case["cluster"], requirements_of(case))
        assert estimate.count == case["maxReplicas"], estimate.reasons


@pytest.mark.parametrize("case", cases("resource-quota"))
def test_component_sets_under_quotas(case: Case) -> None:
    estimate = estimate_sets(
        state_of(case), components_of(case["components"]), case["namespace"], plugins=[ResourceQuota()]
    )
    assert (estimate.count, estimate.code.value) == (case["maxSets"], case["code"]), estimate.reasons
    assert estimate.binding or estimate.count == NO_LIMIT
