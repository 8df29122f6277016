"""Estimates from a Cluster object: summary, models, the switch, the lenient rule."""

from __future__ import annotations

from typing import Any

import pytest

from estimator.fit.model import NO_LIMIT, AssumedWorkload, Code
from estimator.fit.summary import general_replicas, general_sets
from interpreters.core.requirements import Component
from tests.estimator.fit.worlds import component, requirements


def described(summary: dict[str, Any] | None, *grades: tuple[str, str, int], resource: str = "cpu") -> dict[str, Any]:
    """A Cluster object; each grade is a range of the resource, and the number of nodes in it."""
    models = [
        {"grade": number, "ranges": [{"name": resource, "min": least, "max": most}]}
        for number, (least, most, _) in enumerate(grades)
    ]
    status: dict[str, Any] = {}
    if summary is not None:
        counts = [{"grade": number, "count": nodes} for number, (_, _, nodes) in enumerate(grades)]
        status["resourceSummary"] = {**summary, **({"allocatableModelings": counts} if counts else {})}
    return {"metadata": {"name": "member1"}, "spec": {"resourceModels": models}, "status": status}


PLENTY = {"allocatable": {"cpu": "100", "memory": "100Gi", "pods": "1000"}}
BUSY = {
    "allocatable": {"cpu": "10", "memory": "16Gi", "pods": "20"},
    "allocated": {"cpu": "3", "memory": "4G", "pods": "2"},
    "allocating": {"cpu": "500m", "pods": "1"},
}

REPLICAS: list[tuple[dict[str, Any], Any, int]] = [
    # cluster                                   requirements                              replicas
    (described(None), requirements(cpu="1"), 0),
    (described({}), requirements(cpu="1"), 0),
    (described(BUSY), None, 17),
    (described(BUSY), requirements(), 17),
    (described(BUSY), requirements(cpu="1"), 6),
    (described(BUSY), requirements(cpu="0"), 17),
    (described(BUSY), requirements(cpu="-1"), 17),
    (described(BUSY), requirements(memory="1Gi"), 12),
    (described(BUSY), requirements(memory="4G"), 3),
    (described(BUSY), requirements(memory="1e40"), 0),
    (described(BUSY), requirements(**{"nvidia.com/gpu": "1"}), 0),
    (described(PLENTY, ("0", "1", 5), ("1", "2", 3), ("4", "8", 2)), requirements(cpu="1"), 11),
    (described(PLENTY, ("0", "1", 5), ("1", "2", 3), ("4", "8", 2)), requirements(cpu="1500m"), 4),
    (described(PLENTY, ("0", "1", 5), ("1", "2", 3), ("4", "8", 2)), requirements(cpu="10m"), 520),
    (described(PLENTY, ("1", "2", 3)), requirements(), 330),
    (described(PLENTY, ("1", "2", 3)), None, 1000),
    (described(PLENTY, ("1", "2", 3)), requirements(memory="1Gi"), 0),
    (described(PLENTY, ("1", "2", 0)), requirements(cpu="1"), 0),
    (described(PLENTY, ("1", "2", -1)), requirements(cpu="1"), 100),
]


@pytest.mark.parametrize(("cluster", "wanted", "expected"), REPLICAS)
def test_replicas_by_summary_and_models(cluster: dict[str, Any], wanted: Any, expected: int) -> None:
    assert general_replicas(cluster, wanted).count == expected


THREE = [component("a", 1, cpu="2"), component("b", 2, cpu="1")]

SETS: list[tuple[dict[str, Any], list[Component], int]] = [
    (described(None), THREE, 0),
    (described(BUSY), THREE, 1),
    (described(BUSY), [component("a", 3)], 5),
    (described(BUSY), [Component("a", 3)], 5),
    (described(BUSY), [], NO_LIMIT),
    (described(BUSY), [component("a", 0, cpu="1")], NO_LIMIT),
    (described(BUSY), [component("a", 1, memory="4G"), component("b", 1, memory="2Gi")], 2),
    (described(PLENTY, ("1", "2", 3), ("4", "8", 2)), THREE, 2),
    (described(PLENTY, ("1", "2", 300)), THREE, 0),
    (described({"allocatable": {"cpu": "5", "pods": "9"}}, ("64", "128", 9)), THREE, 1),
]


@pytest.mark.parametrize(("cluster", "components", "expected"), SETS)
def test_sets_by_pods_summary_and_models(cluster: dict[str, Any], components: list[Component], expected: int) -> None:
    assert general_sets(cluster, components).count == expected


def test_models_can_be_switched_off() -> None:
    cluster = described(PLENTY, ("1", "2", 3))
    assert general_replicas(cluster, requirements(cpu="2")).count == 0
    assert general_replicas(cluster, requirements(cpu="2"), use_models=False).count == 50
    assert general_sets(cluster, THREE).count == 0
    assert general_sets(cluster, THREE, use_models=False).count == 25


LENIENT = [
    # request    by the minimum    leniently: nodes of [1, 2) and [2, 4)
    ("500m", 10, 10),
    ("1", 5, 5),
    ("1500m", 1, 4),
    ("2", 1, 1),
    ("3", 0, 1),
    ("4", 0, 0),
]


@pytest.mark.parametrize(("cpu", "strict", "lenient"), LENIENT)
def test_the_lenient_rule_lets_a_node_take_one_pod_inside_its_range(cpu: str, strict: int, lenient: int) -> None:
    cluster = described(PLENTY, ("1", "2", 3), ("2", "4", 1))
    assert general_replicas(cluster, requirements(cpu=cpu)).count == strict
    assert general_replicas(cluster, requirements(cpu=cpu), lenient=True).count == lenient
    one = [component("a", 1, cpu=cpu)]
    assert general_sets(cluster, one).count == strict
    assert general_sets(cluster, one, lenient=True).count == lenient


def test_assumed_workloads_are_deducted_from_summary_and_models() -> None:
    promised = [AssumedWorkload([component("w", 2, cpu="3")])]
    assert general_replicas(described(PLENTY), requirements(cpu="1"), assumed=promised).count == 94
    assert general_sets(described(PLENTY), [component("a", 1)], assumed=promised).count == 998
    cluster = described(PLENTY, ("4", "8", 3))
    assert general_replicas(cluster, requirements(cpu="1"), assumed=promised).count == 6
    assert general_sets(cluster, [component("a", 1, cpu="1")], assumed=promised).count == 6


def test_an_answer_says_what_binds_it() -> None:
    estimate = general_sets(described(BUSY), THREE)
    assert (estimate.code, estimate.binding) == (Code.SUCCESS, "ResourceSummary: free cpu")
    assert estimate.reasons == ["ResourceSummary: the cluster has 6500m cpu free, 1500m short of 2 times 4"]
    by_models = general_sets(described(PLENTY, ("1", "2", 300)), THREE)
    assert by_models.reasons == ["ResourceModels: no place for a on a node of any grade"]
    assert general_replicas(described(None), None).reasons == ["cluster member1 has no resource summary"]
