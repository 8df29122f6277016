"""`interp schedule`, and `interp lint` of policies, as users run them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from tests.estimator.clusters.objects import node
from tests.estimator.service.serving import mirror, serving
from tests.interp.command import Ran, interp

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ROOT / "docs" / "examples"
FOLDER = EXAMPLES / "scheduling"
SCHEMA = ROOT / "docs" / "schemas" / "schedule-output.json"
WEB = (FOLDER / "web.yaml", "--policy", FOLDER / "web-policy.yaml")
FLINK = (EXAMPLES / "flink.yaml", "--policy", FOLDER / "flink-policy.yaml")


def schedule(*arguments: str | Path) -> Ran:
    return interp("schedule", *arguments, "--clusters", FOLDER / "clusters.yaml")


def decided(*arguments: str | Path) -> Any:
    ran = schedule(*arguments, "-o", "json")
    answer = json.loads(ran.out)
    jsonschema.validate(answer, json.loads(SCHEMA.read_text()))
    assert ran.code == (0 if answer["decision"]["scheduled"] else 1)
    return answer


def changed(source: Path, target: Path, **placement: Any) -> Path:
    policy = yaml.safe_load(source.read_text())
    policy["spec"]["placement"] |= placement
    policy["spec"]["placement"] = {
        key: value for key, value in policy["spec"]["placement"].items() if value is not None
    }
    target.write_text(yaml.safe_dump(policy))
    return target


SHARED = [{"name": "cloud-eu", "replicas": 7}, {"name": "cloud-us", "replicas": 3}]
OUTCOMES = [  # arguments, recorded name, clusters
    (WEB, "cloud", SHARED),
    ((*WEB, "--observed-affinity", "cloud"), "cloud", SHARED),
    ((*WEB, "--rounding", "webster"), "cloud", SHARED),
    ((*WEB, "--unavailable", "cloud-us"), "cloud", [{"name": "cloud-eu", "replicas": 10}]),
]


@pytest.mark.parametrize(("arguments", "recorded", "clusters"), OUTCOMES)
def test_replicas_go_where_the_policy_says(
    arguments: tuple[str | Path, ...], recorded: str, clusters: list[dict[str, Any]]
) -> None:
    answer = decided(*arguments)
    assert (answer["decision"]["recordedAffinityName"], answer["clusters"]) == (recorded, clusters)


def test_the_binding_records_components_and_the_affinity() -> None:
    ran = schedule(*FLINK, "-o", "yaml")
    binding = yaml.safe_load(ran.out)
    assert ran.code == 0
    assert binding["kind"] == "ResourceBinding"
    assert binding["status"] == {"schedulerObservingAffinityName": "cloud"}
    (target,) = binding["spec"]["clusters"]
    assert target["name"] == "cloud-eu"
    assert target["components"] == [{"name": "jobmanager", "replicas": 1}, {"name": "taskmanager", "replicas": 2}]


def test_an_object_outside_namespaces_gets_a_binding_of_its_own_kind(tmp_path: Path) -> None:
    workload = tmp_path / "class.yaml"
    workload.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}))
    policy = yaml.safe_load((FOLDER / "web-policy.yaml").read_text()) | {"kind": "ClusterPropagationPolicy"}
    policy["spec"]["resourceSelectors"] = [{"apiVersion": "v1", "kind": "Namespace"}]
    (tmp_path / "policy.yaml").write_text(yaml.safe_dump(policy))
    clusters = tmp_path / "clusters.yaml"
    cluster = {"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster",
               "metadata": {"name": "a", "labels": {"tier": "local"}}}  # fmt: skip
    clusters.write_text(yaml.safe_dump(cluster))
    ran = interp("schedule", workload, "--policy", tmp_path / "policy.yaml", "--clusters", clusters, "-o", "yaml")
    binding = yaml.safe_load(ran.out)
    assert (binding["kind"], binding["spec"]["clusters"]) == ("ClusterResourceBinding", [{"name": "a"}])
    assert ran.err == "warning: a: no status.apiEnablements, so every API is taken to be enabled\n"


def test_failover_says_what_was_before() -> None:
    answer = decided(*FLINK, "--unavailable", "cloud-eu", "--unavailable", "cloud-us")
    before, after = answer["before"], answer["decision"]
    assert (before["recordedAffinityName"], [one["name"] for one in before["clusters"]]) == ("cloud", ["cloud-eu"])
    assert (after["recordedAffinityName"], [one["name"] for one in after["clusters"]]) == ("local", ["local-1"])


def test_when_no_group_takes_it_the_first_error_is_told(tmp_path: Path) -> None:
    policy = changed(FOLDER / "web-policy.yaml", tmp_path / "policy.yaml",
                     clusterAffinities=[{"affinityName": "gone", "clusterNames": ["nowhere"]}])  # fmt: skip
    ran = schedule(FOLDER / "web.yaml", "--policy", policy, "--observed-affinity", "gone")
    assert ran.code == 1
    assert ran.out.splitlines()[-1] == (
        "NoClusterFit: 0 of 5 clusters fit: 5 not among clusterNames; the recorded group stays 'gone', "
        "spec.clusters is emptied"
    )
    bound = schedule(FOLDER / "web.yaml", "--policy", policy, "--observed-affinity", "gone", "-o", "yaml")
    binding = yaml.safe_load(bound.out)
    assert (bound.code, binding["status"]) == (1, {"schedulerObservingAffinityName": "gone"})
    assert "clusters" not in binding["spec"]
    assert bound.err == "error: 0 of 5 clusters fit: 5 not among clusterNames\n"


def test_a_binding_tells_where_it_runs(tmp_path: Path) -> None:
    binding = tmp_path / "binding.yaml"
    document = {
        "apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding", "metadata": {"name": "web"},
        "spec": {"clusters": [{"name": "cloud-us", "replicas": 8}]},
        "status": {"schedulerObservingAffinityName": "cloud"},
    }  # fmt: skip
    binding.write_text(yaml.safe_dump(document))
    answer = decided(*WEB, "--binding", binding)
    assert answer["clusters"] == [{"name": "cloud-us", "replicas": 9}, {"name": "cloud-eu", "replicas": 1}]
    afresh = decided(*WEB, "--binding", binding, "--reschedule")
    assert [group["name"] for group in afresh["decision"]["groups"]] == ["local", "cloud"]
    lost = decided(*WEB, "--binding", binding, "--unavailable", "cloud-us")
    assert (lost["before"], lost["clusters"]) == (None, [{"name": "cloud-eu", "replicas": 10}])


def test_pictures_of_nodes_make_it_accurate(tmp_path: Path) -> None:
    nodes = tmp_path / "nodes"
    nodes.mkdir()
    few = [node("n", cpu="2", labels={"disk": "ssd"})]
    (nodes / "cloud-eu.json").write_text(json.dumps({"kind": "List", "items": few}))
    answer = decided(*FLINK, "--nodes", nodes)
    verdicts = {one["cluster"]: one for one in answer["decision"]["groups"][0]["clusters"]}
    assert verdicts["cloud-eu"]["available"] == 0
    assert "NodeResources" in verdicts["cloud-eu"]["boundBy"]
    assert [one["name"] for one in answer["clusters"]] == ["cloud-us"]
    (nodes / "moon.json").write_text((nodes / "cloud-eu.json").read_text())
    assert "moon is not among the clusters" in schedule(*FLINK, "--nodes", nodes).err


async def test_an_estimator_is_asked_over_grpc(tmp_path: Path) -> None:
    few = [node("n", cpu="6", memory="64Gi", labels={"disk": "ssd"})]
    async with serving(mirror(tmp_path, "cloud-eu", few)) as server:
        address = f"cloud-eu=127.0.0.1:{server.port}"
        sets = await asyncio.to_thread(decided, *FLINK, "--estimator", address)
        replicas = await asyncio.to_thread(decided, *WEB, "--estimator", address)
    verdict = sets["decision"]["groups"][0]["clusters"][0]
    assert (verdict["available"], verdict["boundBy"]) == (1, f"the estimator at {address.partition('=')[2]}")
    assert replicas["clusters"] == [{"name": "cloud-us", "replicas": 8}, {"name": "cloud-eu", "replicas": 2}]
    silent = await asyncio.to_thread(schedule, *FLINK, "--estimator", "cloud-eu=127.0.0.1:1")
    assert (silent.code, silent.err) == (2, "error: the estimator at 127.0.0.1:1 did not answer: UNAVAILABLE\n")


def test_a_policy_that_lets_karmada_ignore_the_estimate_is_warned_of(tmp_path: Path) -> None:
    policy = changed(FOLDER / "flink-policy.yaml", tmp_path / "policy.yaml", spreadConstraints=None,
                     replicaScheduling=None)  # fmt: skip
    ran = schedule(EXAMPLES / "flink.yaml", "--policy", policy)
    assert ran.out.splitlines()[-1] == "all of it to cloud-eu, cloud-us; recorded group: cloud"
    spread, divided = ran.err.splitlines()
    assert "minGroups: 1 and maxGroups: 1" in spread
    assert "replicaSchedulingType is Duplicated" in divided


MISUSES = [  # arguments, part of the complaint
    ((FOLDER / "web.yaml", "--policy", FOLDER / "web.yaml"), "expected one PropagationPolicy"),
    ((*WEB, "--unavailable", "moon"), "there is no such cluster"),
    ((*WEB, "--estimator", "moon"), "expected CLUSTER=HOST:PORT"),
    ((*WEB, "--nodes", FOLDER / "web.yaml"), "expected a folder"),
    ((*WEB, "--binding", FOLDER / "web.yaml"), "expected a ResourceBinding or ClusterResourceBinding, got Deployment"),
    ((*WEB, "--clusters", FOLDER / "web.yaml"), "expected Clusters of cluster.karmada.io/v1alpha1, got Deployment"),
]


@pytest.mark.parametrize(("arguments", "complaint"), MISUSES)
def test_misuse_ends_with_two(arguments: tuple[str | Path, ...], complaint: str) -> None:
    ran = schedule(*arguments)
    assert ran.code == 2
    assert complaint in ran.err


def test_a_policy_that_karmada_refuses_is_not_scheduled(tmp_path: Path) -> None:
    policy = changed(FOLDER / "web-policy.yaml", tmp_path / "p.yaml", clusterAffinity={"clusterNames": ["a"]})
    ran = schedule(FOLDER / "web.yaml", "--policy", policy)
    assert ran.code == 2
    assert "clusterAffinity and clusterAffinities exclude each other" in ran.err


def test_the_policy_must_be_about_the_workload() -> None:
    ran = schedule(EXAMPLES / "flink.yaml", "--policy", FOLDER / "web-policy.yaml")
    assert "do not select FlinkDeployment streams/wordcount" in ran.err.splitlines()[0]
    bound = interp("bind", EXAMPLES / "flink.yaml", "--policy", FOLDER / "web-policy.yaml")
    assert (bound.code, bound.err) == (
        0,
        "warning: the policy's resourceSelectors do not select FlinkDeployment streams/wordcount\n",
    )
    assert interp("bind", EXAMPLES / "flink.yaml", "--policy", FOLDER / "flink-policy.yaml").err == ""
    wrong = interp("bind", EXAMPLES / "flink.yaml", "--policy", FOLDER / "web.yaml")
    assert (wrong.code, wrong.out) == (2, "")
    assert "web.yaml: expected a PropagationPolicy or ClusterPropagationPolicy, got apps/v1 Deployment" in wrong.err


FLINK = (EXAMPLES / "flink.yaml", "--policy", FOLDER / "flink-policy.yaml")
ANEW = 'warning: the policy has no group "nope", so the search starts at the first; '


@pytest.mark.parametrize(
    ("arguments", "warning"),
    [
        (("--observed-affinity", "nope"), f"{ANEW}its groups are cloud, local\n"),
        (("--observed-affinity", "nope", "--reschedule"), ""),
        (("--observed-affinity", "local"), ""),
    ],
)
def test_an_observed_group_that_the_policy_does_not_have_is_warned_of(arguments: tuple[str, ...], warning: str) -> None:
    assert schedule(*FLINK, *arguments).err == warning


def test_without_named_groups_there_is_none_to_have_observed(tmp_path: Path) -> None:
    policy = changed(FOLDER / "flink-policy.yaml", tmp_path / "p.yaml", clusterAffinities=None)
    ran = schedule(EXAMPLES / "flink.yaml", "--policy", policy, "--observed-affinity", "nope")
    assert ran.err == f"{ANEW}it names no groups\n"


def test_lint_checks_policies_with_their_lines(tmp_path: Path) -> None:
    policy = changed(FOLDER / "flink-policy.yaml", tmp_path / "p.yaml", replicaScheduling=None,
                     clusterAffinities=[{"affinityName": "x", "clusterNames": ["moon"]},
                                        {"affinityName": "x y", "clusterNames": ["local-1"]}])  # fmt: skip
    ran = interp("lint", policy, "--clusters", FOLDER / "clusters.yaml")
    assert ran.code == 1
    rules = [line.removeprefix(f"{policy}:").split(": ")[:3] for line in ran.out.splitlines()]
    assert [(rule, field) for _, rule, field in rules] == [
        ("placement", "spec.placement.clusterAffinities[1]"),
        ("multi-component-divided", "spec.placement.replicaScheduling"),
        ("unreachable-group", "spec.placement.clusterAffinities[0]"),
    ]
    lines = policy.read_text().splitlines()
    assert "x y" in lines[int(rules[0][0].partition(":")[0]) - 1]
    assert ran.err.splitlines()[-1] == "1 policy, 3 findings"


def test_lint_passes_a_good_policy_and_tells_of_shared_clusters(tmp_path: Path) -> None:
    groups = [{"affinityName": "any"}, {"affinityName": "one", "clusterNames": ["local-1"]}]
    policy = changed(FOLDER / "flink-policy.yaml", tmp_path / "p.yaml", clusterAffinities=groups)
    ran = interp("lint", policy, "--clusters", FOLDER / "clusters.yaml")
    assert (ran.code, ran.out) == (0, "")
    assert "local-1 is in several groups: any, one" in ran.err
