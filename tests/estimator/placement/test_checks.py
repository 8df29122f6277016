"""What a policy's author should know: broken rules, unreachable groups, estimates that Karmada will ignore."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from estimator.placement.checks import check_policy, doubts
from estimator.placement.decision import Decision
from estimator.placement.matching import selects
from estimator.placement.scheduling import decide
from tests.estimator.placement.fleet import AGGREGATED, ONE_CLUSTER, cluster, groups, question, weighted

FLINK = {"apiVersion": "flink.apache.org/v1beta1", "kind": "FlinkDeployment"}
WEB = {"apiVersion": "apps/v1", "kind": "Deployment"}
ONE = {"spreadConstraints": ONE_CLUSTER, "replicaScheduling": AGGREGATED}
FLEET = [cluster("a"), cluster("b")]


def policy(placement: Any, *selectors: dict[str, Any], kind: str = "PropagationPolicy") -> dict[str, Any]:
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": kind,
        "metadata": {"name": "p", "namespace": "shop"},
        "spec": {"resourceSelectors": list(selectors), "placement": placement},
    }


SPREAD, DIVIDED = "multi-component-spread", "multi-component-divided"
CASES = [  # placement, selector, findings as level, rule, field
    ({}, WEB, []),
    (None, WEB, []),
    (ONE, FLINK, []),
    ({}, FLINK, [("warning", SPREAD, "spreadConstraints"), ("warning", DIVIDED, "replicaScheduling")]),
    ({"spreadConstraints": ONE_CLUSTER}, FLINK, [("warning", DIVIDED, "replicaScheduling")]),
    ({"replicaScheduling": AGGREGATED}, FLINK, [("warning", SPREAD, "spreadConstraints")]),
    ({**ONE, "replicaScheduling": weighted(a=1)}, FLINK, [("warning", SPREAD, "replicaScheduling")]),
    ({"clusterAffinities": groups(x=["a"], y=["b"])}, WEB, []),
    ({"clusterAffinities": groups(x=["a"], y=["z"])}, WEB, [("warning", "unreachable-group", "clusterAffinities[1]")]),
    ({"clusterAffinity": {"clusterNames": ["z"]}}, WEB, [("warning", "unreachable-group", "clusterAffinity")]),
    ({"clusterAffinities": groups(x=["a"], y=["a", "b"])}, WEB,
     [("information", "shared-cluster", "clusterAffinities")]),
    ({"spreadConstraints": [{"spreadByField": "zone"}, {"spreadByField": "cluster"}]}, WEB,
     [("warning", "spread-not-done", "spreadConstraints[0].spreadByField")]),
    ({"spreadConstraints": [{"minGroups": 3, "maxGroups": 2}]}, WEB, [("error", "placement", "spreadConstraints[0]")]),
    ({"clusterAffinities": "all"}, WEB, [("error", "placement", "clusterAffinities")]),
]  # fmt: skip


@pytest.mark.parametrize(("placement", "selector", "expected"), CASES)
def test_a_policy_is_remarked_on(placement: Any, selector: dict[str, Any], expected: list[tuple[str, ...]]) -> None:
    found = check_policy(policy(placement, selector), FLEET, several=lambda kind: kind.kind == FLINK["kind"])
    assert [(one.level, one.rule, one.field.removeprefix("spec.placement.")) for one in found] == expected
    assert all(one.message for one in found)


def test_groups_are_only_judged_when_clusters_are_known() -> None:
    assert check_policy(policy({"clusterAffinities": groups(x=["z"])}, WEB)) == []


MALFORMED = [
    ({"spec": 3}, "spec"),
    ({}, "spec"),
    ({"spec": {"resourceSelectors": 3}}, "spec.resourceSelectors"),
    ({"spec": {"resourceSelectors": [3]}}, "spec.resourceSelectors[0]"),
    ({"spec": {"placement": 7}}, "spec.placement"),
]


@pytest.mark.parametrize(("document", "field"), MALFORMED)
def test_what_is_no_policy_at_all_is_an_error_with_its_field(document: dict[str, Any], field: str) -> None:
    (found,) = check_policy(document)
    assert (found.level, found.field) == ("error", field)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["affinityName", "clusterNames", "spreadByField", "weight", "exclude"]), inner
        )
    ),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    ["clusterAffinity", "clusterAffinities", "spreadConstraints", "clusterTolerations", "replicaScheduling"]
)


@given(st.dictionaries(FIELDS, ANYTHING), ANYTHING)
def test_whatever_a_policy_holds_is_judged(placement: Any, selectors: Any) -> None:
    document = policy(placement) | {"spec": {"placement": placement, "resourceSelectors": selectors}}
    assert all(one.field and one.message for one in check_policy(document, FLEET))


SELECTIONS = [  # selector, policy kind, workload's namespace, selected
    (WEB, "PropagationPolicy", "shop", True),
    (WEB, "PropagationPolicy", "other", False),
    (WEB, "ClusterPropagationPolicy", "other", True),
    ({**WEB, "name": "web"}, "PropagationPolicy", "shop", True),
    ({**WEB, "name": "db"}, "PropagationPolicy", "shop", False),
    ({**WEB, "namespace": "shop"}, "ClusterPropagationPolicy", "other", False),
    ({**WEB, "labelSelector": {"matchLabels": {"app": "web"}}}, "PropagationPolicy", "shop", True),
    ({**WEB, "labelSelector": {"matchLabels": {"app": "db"}}}, "PropagationPolicy", "shop", False),
    (FLINK, "PropagationPolicy", "shop", False),
]


@pytest.mark.parametrize(("selector", "kind", "namespace", "expected"), SELECTIONS)
def test_a_policy_selects_its_workloads(selector: dict[str, Any], kind: str, namespace: str, expected: bool) -> None:
    workload = {**WEB, "metadata": {"name": "web", "namespace": namespace, "labels": {"app": "web"}}}
    assert selects(policy({}, selector, kind=kind), workload) is expected


def said(placement: dict[str, Any], free: dict[str, int], replicas: int, sets: bool) -> list[str]:
    asked = question(placement, [cluster("a", apis=["apps/v1 Deployment"])], free, replicas, sets)
    found: Decision = decide(asked)
    return doubts(asked.placement, asked.demand, asked.clusters, found)


DOUBTS = [  # placement, free, replicas, sets, parts of the warnings
    ({}, {"a": 9}, 3, False, []),
    ({}, {"a": 2}, 3, False, ["a has room for 2 of 3 replicas"]),
    (ONE, {"a": 1}, 0, True, []),
    ({}, {"a": 1}, 0, True, ["not bound to one cluster", "replicaSchedulingType is Duplicated"]),
    ({}, {"a": 1}, 0, False, ["no replicas"]),
]


@pytest.mark.parametrize(("placement", "free", "replicas", "sets", "expected"), DOUBTS)
def test_a_decision_comes_with_its_doubts(
    placement: dict[str, Any], free: dict[str, int], replicas: int, sets: bool, expected: list[str]
) -> None:
    found = said(placement, free, replicas, sets)
    assert len(found) == len(expected)
    assert all(part in warning for part, warning in zip(expected, found, strict=True))


def test_clusters_that_list_no_apis_are_named() -> None:
    asked = question({}, [cluster(name) for name in "abcde"], {}, replicas=1)
    assert doubts(asked.placement, asked.demand, asked.clusters, decide(asked)) == [
        "a, b, c and 2 more: no status.apiEnablements, so every API is taken to be enabled"
    ]
