"""The binding of a workload has the fields that the proposal's table, or real Karmada, gives it."""

from __future__ import annotations

from typing import Any

import pytest

from estimator.placement.bindings import ClusterTarget, Interpreted, Like, build_binding, parse_targets
from interpreters.core.errors import InputError
from interpreters.core.karmada.api import binding_name
from interpreters.core.karmada.releases import KARMADA_1_18, KARMADA_1_19, Release
from interpreters.core.requirements import Component, ReplicaRequirements
from tests.estimator.accounting.samples import component

JOB = {"apiVersion": "flink.apache.org/v1beta1", "kind": "FlinkDeployment", "metadata": {"name": "job", "uid": "u"}}
NEEDS = ReplicaRequirements(resource_request={"cpu": "1"}, namespace="default")
ONE = (component("main", 2),)
TWO = (component("jobmanager", 1), component("taskmanager", 4))
REQUEST = {"resourceRequest": {"cpu": "1"}}
LEGACY_2 = {"replicas": 2, "replicaRequirements": {**REQUEST, "namespace": "default"}}
LEGACY_5 = {"replicas": 5, "replicaRequirements": {**REQUEST, "namespace": "default"}}
MAIN_5 = [{"name": "main", "replicas": 5, "replicaRequirements": REQUEST}]
WIRE_ONE = [{"name": "main", "replicas": 2, "replicaRequirements": REQUEST}]
WIRE_TWO = [
    {"name": "jobmanager", "replicas": 1, "replicaRequirements": REQUEST},
    {"name": "taskmanager", "replicas": 4, "replicaRequirements": REQUEST},
]

TABLE: list[tuple[bool, Like, Any, int | None, dict[str, Any]]] = [
    # gate   like        GetComponents GetReplicas  the fields of the binding
    (False, "proposal", None,         5,           LEGACY_5),
    (False, "proposal", TWO,          5,           LEGACY_5),
    (False, "proposal", TWO,          None,        {}),
    (False, "proposal", None,         None,        {}),
    (False, "karmada",  TWO,          5,           LEGACY_5),
    (True,  "proposal", ONE,          None,        {**LEGACY_2, "components": WIRE_ONE}),
    (True,  "proposal", ONE,          5,           {**LEGACY_2, "components": WIRE_ONE}),
    (True,  "proposal", TWO,          5,           {**LEGACY_5, "components": WIRE_TWO}),
    (True,  "proposal", TWO,          None,        {"components": WIRE_TWO}),
    (True,  "proposal", (),           5,           {}),
    (True,  "proposal", None,         5,           {**LEGACY_5, "components": MAIN_5}),
    (True,  "proposal", None,         None,        {}),
    (True,  "karmada",  ONE,          5,           {"components": WIRE_ONE}),
    (True,  "karmada",  TWO,          5,           {"components": WIRE_TWO}),
    (True,  "karmada",  None,         5,           LEGACY_5),
]  # fmt: skip


@pytest.mark.parametrize(("gate", "like", "components", "replicas", "expected"), TABLE)
def test_each_branch_of_the_table_fills_its_fields(
    gate: bool, like: Like, components: tuple[Component, ...] | None, replicas: int | None, expected: dict[str, Any]
) -> None:
    said = Interpreted(components, replicas, NEEDS if replicas is not None else None)
    binding = build_binding(JOB, said, gate=gate, like=like)
    demand = {name: value for name, value in binding["spec"].items() if name != "resource"}
    assert demand == expected


def test_a_binding_is_named_and_refers_as_karmada_does() -> None:
    binding = build_binding(JOB, Interpreted())
    assert binding["kind"] == "ResourceBinding"
    assert binding["metadata"] == {"name": "job-flinkdeployment", "namespace": "default"}
    assert binding["spec"]["resource"] == {
        "apiVersion": "flink.apache.org/v1beta1", "kind": "FlinkDeployment", "namespace": "default", "name": "job",
        "uid": "u",
    }  # fmt: skip
    assert binding_name("ClusterRole", "system:Node") == "system.node-clusterrole"


@pytest.mark.parametrize(
    ("workload", "flag", "kind"),
    [
        ({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}, None, "ClusterResourceBinding"),
        ({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}, None, "ResourceBinding"),
        ({"apiVersion": "x.io/v1", "kind": "Fleet", "metadata": {"name": "a"}}, True, "ClusterResourceBinding"),
    ],
)
def test_an_object_outside_namespaces_gets_a_cluster_resource_binding(
    workload: dict[str, Any], flag: bool | None, kind: str
) -> None:
    binding = build_binding(workload, Interpreted(), cluster_scoped=flag)
    assert binding["kind"] == kind
    assert ("namespace" in binding["metadata"]) == (kind == "ResourceBinding")


TWO_CLUSTERS = {"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 2}]}
SINGLE_CLUSTER = {"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}]}


def a_policy(placement: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "PropagationPolicy", "metadata": {"name": "p", "namespace": "n"}, "spec": {"placement": placement}}


@pytest.mark.parametrize(
    ("said", "targets", "placement", "clusters"),
    [
        (Interpreted(None, 5), "a,b", {}, [{"name": "a", "replicas": 5}, {"name": "b", "replicas": 5}]),
        (Interpreted(None, 5), "a=3,b=2", {}, [{"name": "a", "replicas": 3}, {"name": "b", "replicas": 2}]),
        (Interpreted(TWO), "a", {}, [{"name": "a"}]),
        (Interpreted(TWO), "a", SINGLE_CLUSTER, [{"name": "a", "components": [
            {"name": "jobmanager", "replicas": 1}, {"name": "taskmanager", "replicas": 4}]}]),
        (Interpreted(TWO), "a", {"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 2}]},
         [{"name": "a"}]),
    ],
)  # fmt: skip
def test_clusters_record_replicas_and_components_only_where_they_are_scheduled_together(
    said: Interpreted, targets: str, placement: dict[str, Any], clusters: list[Any]
) -> None:
    binding = build_binding(JOB, said, policy=a_policy(placement), targets=parse_targets(targets), gate=True)
    assert binding["spec"]["clusters"] == clusters


RECORDED = [{"name": "jobmanager", "replicas": 1}, {"name": "taskmanager", "replicas": 4}]


@pytest.mark.parametrize(
    ("release", "gate", "components", "spread", "target"),
    [
        (KARMADA_1_18, True, TWO, SINGLE_CLUSTER, {"name": "a"}),
        (KARMADA_1_19, True, TWO, SINGLE_CLUSTER, {"name": "a", "components": RECORDED}),
        (KARMADA_1_19, True, ONE, SINGLE_CLUSTER, {"name": "a"}),
        (KARMADA_1_19, True, TWO, TWO_CLUSTERS, {"name": "a"}),
        (KARMADA_1_19, False, TWO, SINGLE_CLUSTER, {"name": "a", "replicas": 5}),
    ],
    ids=["1.18", "1.19", "one component", "spread over two", "gate off"],
)
def test_karmada_itself_records_components_of_clusters_from_1_19_on(
    release: Release, gate: bool, components: Any, spread: Any, target: dict[str, Any]
) -> None:
    said, policy = Interpreted(components, None if gate else 5), a_policy(spread)
    binding = build_binding(
        JOB, said, policy=policy, targets=parse_targets("a"), gate=gate, like="karmada", release=release
    )
    assert binding["spec"]["clusters"] == [target]


def test_a_priority_stands_in_the_binding_by_its_value_alone() -> None:
    policy = a_policy(SINGLE_CLUSTER)
    policy["spec"]["schedulePriority"] = {"priorityClassSource": "KubePriorityClass", "priorityClassName": "high"}
    assert "schedulePriority" not in build_binding(JOB, Interpreted(), policy=policy)["spec"]
    assert build_binding(JOB, Interpreted(), policy=policy, priority=0)["spec"]["schedulePriority"] == {"priority": 0}


def test_what_a_policy_says_stands_in_the_binding() -> None:
    policy = a_policy(SINGLE_CLUSTER)
    policy["spec"] |= {"propagateDeps": True, "conflictResolution": "Overwrite"}
    binding = build_binding(JOB, Interpreted(), policy=policy)
    assert binding["spec"]["placement"] == SINGLE_CLUSTER
    assert (binding["spec"]["propagateDeps"], binding["spec"]["conflictResolution"]) == (True, "Overwrite")
    assert binding["spec"]["schedulerName"] == "default-scheduler"
    assert binding["metadata"]["annotations"]["propagationpolicy.karmada.io/name"] == "p"


@pytest.mark.parametrize("text", ["a=x", "=3", "a,a", "a=-1"])
def test_clusters_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="clusters:"):
        parse_targets(text)


def test_clusters_are_read_with_and_without_numbers() -> None:
    assert parse_targets("a, b=2,") == (ClusterTarget("a"), ClusterTarget("b", 2))


def test_a_workload_without_a_name_has_no_binding() -> None:
    with pytest.raises(InputError, match=r"metadata\.name is missing"):
        build_binding({"apiVersion": "v1", "kind": "Pod", "metadata": {}}, Interpreted())
