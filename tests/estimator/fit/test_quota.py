"""ResourceQuota: which pods a quota counts, what it leaves, and what it leaves open."""

from __future__ import annotations

from typing import Any

import pytest

from estimator.fit.estimation import estimate_replicas, estimate_sets
from estimator.fit.model import NO_LIMIT, Code
from estimator.fit.plugins import ResourceQuota
from estimator.fit.quota import FreeQuota, applies
from interpreters.core.requirements import Component
from tests.estimator.fit.worlds import cluster, component, quota, requirements

QUOTAS = [ResourceQuota()]


def sets(components: list[Component], *quotas: dict[str, Any]) -> int:
    return estimate_sets(cluster(*quotas), components, "default", plugins=QUOTAS).count


ONE = [component("a", 2, cpu="1", memory="1Gi")]

CEILINGS = [
    # hard                                                          used                        sets of 2 CPU, 2 Gi
    ({"cpu": "10"}, {}, 5),
    ({"requests.cpu": "10"}, {}, 5),
    ({"cpu": "10", "requests.cpu": "6"}, {}, 3),
    ({"cpu": "10"}, {"cpu": "3500m"}, 3),
    ({"cpu": "10"}, {"cpu": "10"}, 0),
    ({"cpu": "10"}, {"cpu": "14"}, 0),
    ({"cpu": "10", "memory": "5Gi"}, {}, 2),
    ({"limits.cpu": "1", "limits.memory": "1"}, {}, NO_LIMIT),
    ({"requests.nvidia.com/gpu": "0"}, {}, NO_LIMIT),
    ({"pods": "7"}, {"pods": "1"}, 3),
    ({"count/pods": "7"}, {}, 3),
    ({"count/deployments.apps": "0", "services": "0", "requests.storage": "0"}, {}, NO_LIMIT),
    ({"gold.storageclass.storage.k8s.io/requests.storage": "0"}, {}, NO_LIMIT),
    ({"cpu": "1e30"}, {}, NO_LIMIT),
]


@pytest.mark.parametrize(("hard", "used", "expected"), CEILINGS)
def test_a_set_is_divided_into_what_a_quota_leaves(hard: dict[str, str], used: dict[str, str], expected: int) -> None:
    assert sets(ONE, quota("q", hard, used)) == expected


def test_extended_and_ephemeral_resources_count() -> None:
    gpu = [component("a", 2, **{"nvidia.com/gpu": "1", "ephemeral-storage": "1Gi", "hugepages-2Mi": "4Mi"})]
    assert sets(gpu, quota("q", {"requests.nvidia.com/gpu": "8"})) == 4
    assert sets(gpu, quota("q", {"requests.ephemeral-storage": "7Gi"})) == 3
    assert sets(gpu, quota("q", {"hugepages-2Mi": "8Mi"})) == 1


def test_a_pod_is_charged_in_whole_thousandths_of_cpu_and_whole_units_of_the_rest() -> None:
    small = [component("a", 2, cpu="12345u"), component("b", 1, memory="1100m")]
    assert sets(small, quota("q", {"cpu": "260m"})) == 10
    assert sets(small, quota("q", {"memory": "10"})) == 5


def test_the_tightest_of_several_quotas_counts_and_other_namespaces_do_not() -> None:
    wide, tight, other = quota("w", {"cpu": "100"}), quota("t", {"cpu": "4"}), quota("o", {"cpu": "0"}, namespace="x")
    assert sets(ONE, wide, tight, other) == 2


def test_amounts_in_different_formats_compare_exactly() -> None:
    assert sets([component("a", 1, memory="1Gi")], quota("q", {"memory": "4G"})) == 3
    assert sets([component("a", 1, memory="1G")], quota("q", {"memory": "4Gi"})) == 4
    assert sets([component("a", 3, cpu="333m")], quota("q", {"cpu": "1"})) == 1


HIGH, LOW, NONE = (component("a", 1, priority=name, cpu="1") for name in ("high", "low", ""))
BEST_EFFORT = component("a", 1, priority="high", **{"nvidia.com/gpu": "1"})


def chosen(scope: str, operator: str, *values: str) -> dict[str, Any]:
    return {"scopeName": scope, "operator": operator, "values": list(values)}


def selector(*expressions: dict[str, Any]) -> dict[str, Any]:
    return {"scopeSelector": {"matchExpressions": list(expressions)}}


SCOPES: list[tuple[dict[str, Any], Component, bool | str]] = [
    # scopes of the quota                                                component    counts it?
    ({}, NONE, True),
    ({"scopes": ["PriorityClass"]}, HIGH, True),
    ({"scopes": ["PriorityClass"]}, NONE, False),
    (selector(chosen("PriorityClass", "In", "high", "top")), HIGH, True),
    (selector(chosen("PriorityClass", "In", "high")), LOW, False),
    (selector(chosen("PriorityClass", "In", "high")), NONE, False),
    (selector(chosen("PriorityClass", "NotIn", "high")), LOW, True),
    (selector(chosen("PriorityClass", "NotIn", "high")), HIGH, False),
    (selector(chosen("PriorityClass", "NotIn", "high")), NONE, True),
    (selector(chosen("PriorityClass", "Exists")), LOW, True),
    (selector(chosen("PriorityClass", "DoesNotExist")), NONE, True),
    (selector(chosen("PriorityClass", "DoesNotExist")), LOW, False),
    (selector(chosen("PriorityClass", "In", "high"), chosen("PriorityClass", "NotIn", "high")), HIGH, False),
    (selector(chosen("PriorityClass", "In", "high", "low"), chosen("PriorityClass", "NotIn", "low")), HIGH, True),
    (selector(chosen("PriorityClass", "Like", "high")), HIGH, "PriorityClass"),
    ({"scopes": ["BestEffort"]}, HIGH, False),
    ({"scopes": ["BestEffort"]}, BEST_EFFORT, True),
    ({"scopes": ["NotBestEffort"]}, HIGH, True),
    ({"scopes": ["NotBestEffort"]}, BEST_EFFORT, False),
    ({"scopes": ["NotBestEffort"], **selector(chosen("PriorityClass", "In", "high"))}, HIGH, True),
    ({"scopes": ["NotBestEffort"], **selector(chosen("PriorityClass", "In", "high"))}, LOW, False),
    ({"scopes": ["Terminating"]}, HIGH, "Terminating"),
    ({"scopes": ["NotTerminating"]}, HIGH, "NotTerminating"),
    ({"scopes": ["CrossNamespacePodAffinity"]}, HIGH, "CrossNamespacePodAffinity"),
    ({"scopes": ["Terminating"], **selector(chosen("PriorityClass", "In", "low"))}, HIGH, False),
    ({"scopes": ["VolumeAttributesClass"]}, HIGH, False),
]


@pytest.mark.parametrize(("spec", "part", "expected"), SCOPES)
def test_scopes_are_anded_and_what_a_template_cannot_decide_stays_open(
    spec: dict[str, Any], part: Component, expected: bool | str
) -> None:
    assert applies(FreeQuota.of(quota("q", {"cpu": "1"}, **spec)), part.replica_requirements) == expected


def test_only_components_in_scope_are_charged() -> None:
    set_ = [component("high", 1, priority="high", cpu="1"), component("low", 9, priority="low", cpu="1")]
    assert sets(set_, quota("q", {"cpu": "4"}, **selector(chosen("PriorityClass", "In", "high")))) == 4


def test_an_undecided_scope_is_reported_and_not_guessed() -> None:
    state = cluster(quota("q", {"cpu": "1"}, scopes=["Terminating"]))
    estimate = estimate_sets(state, [component("main", 4, cpu="1")], "default", plugins=QUOTAS)
    assert (estimate.count, estimate.code) == (NO_LIMIT, Code.SUCCESS)
    assert estimate.reasons == [
        "ResourceQuota: quota default/q is left aside for main: whether scope Terminating holds cannot be told from a "
        "pod template"
    ]


def test_a_usage_that_is_not_known_yet_is_reported_and_not_guessed() -> None:
    fresh = quota("q", {"cpu": "1", "limits.cpu": "1"})
    fresh["status"] = {"hard": fresh["status"]["hard"]}
    estimate = estimate_sets(cluster(fresh), ONE, "default", plugins=QUOTAS)
    assert estimate.count == NO_LIMIT
    assert estimate.reasons == [
        "ResourceQuota: quota default/q does not limit cpu: its status does not tell the usage yet"
    ]


def test_used_above_hard_is_full_and_not_negative() -> None:
    estimate = estimate_sets(cluster(quota("q", {"cpu": "1"}, {"cpu": "3"})), ONE, "default", plugins=QUOTAS)
    assert (estimate.count, estimate.code) == (0, Code.UNSCHEDULABLE)
    assert estimate.binding == "ResourceQuota: quota default/q, cpu"
    assert estimate.reasons == ["ResourceQuota: quota default/q has 0 cpu free, 2 short of 1 times 2"]


def test_replicas_are_limited_by_the_quotas_of_their_namespace() -> None:
    state = cluster(quota("q", {"cpu": "5"}))
    limited = estimate_replicas(state, requirements(cpu="2"), plugins=QUOTAS)
    assert (limited.count, limited.code) == (2, Code.SUCCESS)
    free = estimate_replicas(state, requirements(namespace="other", cpu="2"), plugins=QUOTAS)
    assert (free.count, free.code) == (NO_LIMIT, Code.NOOPERATION)
