"""`interp schedule`, `bind` and `lint` by the release of Karmada, by priority, and of several workloads at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from estimator.placement.priority import NO_PRIORITY, Priority
from interp.verbs.schedule.queue import Job, in_order
from interpreters.core.interpreted import Interpreted
from interpreters.core.karmada.releases import NEWEST
from tests.interp.command import interp
from tests.interp.test_schedule import FLINK, FOLDER, SCHEMA, WEB, decided, schedule


@pytest.mark.parametrize(("release", "components"), [("1.18", False), ("v1.18.1", False), ("1.19", True)])
def test_the_binding_is_that_of_the_release(release: str, components: bool) -> None:
    (target,) = yaml.safe_load(schedule(*FLINK, "--karmada", release, "-o", "yaml").out)["spec"]["clusters"]
    assert ("components" in target, "replicas" in target) == (components, False)
    gate = ("--feature-gates", "MultiplePodTemplatesScheduling=true")
    bound = interp("bind", *FLINK, "--clusters", "a", "--like", "karmada", *gate, "--karmada", release, "-o", "json")
    assert ("components" in json.loads(bound.out)["spec"]["clusters"][0]) is components


def test_a_release_that_is_not_known_is_refused_by_every_verb() -> None:
    for verb in (("bind", FOLDER / "web.yaml"), ("schedule", *WEB), ("audit", "--bindings", "-"), ("lint",)):
        ran = interp(*verb, "--karmada", "1.20")
        assert ran.code == 2
        assert "Karmada 1.20 is not known here: there are 1.18 and 1.19; the nearest is 1.19" in " ".join(
            ran.err.split()
        )


def test_karmada_tells_no_components_of_kubernetes_own_kinds() -> None:
    gate = ("--feature-gates", "MultiplePodTemplatesScheduling=true")
    spec = json.loads(interp("bind", FOLDER / "web.yaml", "--like", "karmada", *gate, "-o", "json").out)["spec"]
    assert (spec["replicas"], "components" in spec) == (10, False)


def test_an_evicted_cluster_is_not_chosen(tmp_path: Path) -> None:
    binding = tmp_path / "binding.yaml"
    tasks = [{"fromCluster": "cloud-eu", "reason": "TaintUntolerated", "producer": "TaintManager"}]
    document = {"apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding", "metadata": {"name": "w"},
                "spec": {"gracefulEvictionTasks": tasks}}  # fmt: skip
    binding.write_text(yaml.safe_dump(document))
    answer = decided(*FLINK, "--binding", binding)
    assert [one["name"] for one in answer["clusters"]] == ["cloud-us"]
    (evicted,) = (one for one in answer["decision"]["groups"][0]["clusters"] if one["cluster"] == "cloud-eu")
    assert (evicted["verdict"], evicted["by"]) == ("filtered", "eviction")


def several(tmp_path: Path) -> tuple[str | Path, ...]:
    """Two Deployments that do not fit together, the second of higher priority, each with a policy of its own."""
    workloads, policies = [], []
    for name, priority_class in (("slow", "low"), ("urgent", "high")):
        workload = yaml.safe_load((FOLDER / "web.yaml").read_text())
        workload["metadata"] |= {"name": name, "labels": {"app": name, "team": "shop"}}
        policy = yaml.safe_load((FOLDER / "web-policy.yaml").read_text())
        policy["metadata"]["name"] = name
        policy["spec"]["resourceSelectors"] = [{"apiVersion": "apps/v1", "kind": "Deployment", "name": name}]
        policy["spec"]["placement"] = {"clusterAffinity": {"clusterNames": ["cloud-us"]},
                                       "replicaScheduling": {"replicaSchedulingType": "Divided",
                                                             "replicaDivisionPreference": "Aggregated"}}  # fmt: skip
        policy["spec"]["schedulePriority"] = {"priorityClassSource": "KubePriorityClass",
                                              "priorityClassName": priority_class}  # fmt: skip
        workload["spec"]["replicas"] = 20
        workloads.append(workload)
        policies.append(policy)
    classes = [{"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name},
                "value": value} for name, value in (("low", 1), ("high", 100))]  # fmt: skip
    for name, documents in (("workloads", workloads), ("policies", policies), ("classes", classes)):
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump_all(documents))
    return (tmp_path / "workloads.yaml", "--policy", tmp_path / "policies.yaml",
            "--priority-classes", tmp_path / "classes.yaml")  # fmt: skip


@pytest.mark.parametrize(
    ("release", "order"),
    [("1.19", [("urgent", 100, True), ("slow", 1, False)]), ("1.18", [("slow", 0, True), ("urgent", 0, False)])],
)
def test_several_workloads_are_scheduled_by_priority(tmp_path: Path, release: str, order: list[Any]) -> None:
    """cloud-us has room for 24 replicas, so whoever comes first takes its 20 and the other finds 4."""
    ran = schedule(*several(tmp_path), "--karmada", release, "-o", "json")
    assert ran.code == 1, "one of them goes nowhere"
    answer = json.loads(ran.out)
    jsonschema.validate(answer, json.loads(SCHEMA.read_text()))
    reports = answer["schedules"]
    assert [(one["workload"]["name"], one["priority"], one["decision"]["scheduled"]) for one in reports] == order
    assert reports[1]["decision"]["failure"]["message"] == "20 replicas wanted, room for 4 in 1 cluster"


TIES = [  # the priorities as they come, None for a policy that names none; the order in which they are taken
    ([5, 5, 5], [0, 1, 2]),
    ([0, None, 0], [0, 1, 2]),
    ([None, -1, 7, None, 7], [2, 4, 0, 3, 1]),
    ([2_000_001_000, 2_000_000_000], [0, 1]),
]


@pytest.mark.parametrize(("priorities", "taken"), TIES)
def test_equal_priorities_are_taken_in_the_order_in_which_they_came(
    priorities: list[int | None], taken: list[int]
) -> None:
    nothing = Interpreted([])
    jobs = [
        Job({"number": number}, nothing, {}, NO_PRIORITY if value is None else Priority(value, is_set=True))
        for number, value in enumerate(priorities)
    ]
    assert [job.obj["number"] for job in in_order(jobs, NEWEST)] == taken


def test_several_workloads_are_told_of_one_after_another(tmp_path: Path) -> None:
    ran = schedule(*several(tmp_path))
    headings = [line for line in ran.out.splitlines() if line.startswith(("1. ", "2. ", "Deployment "))]
    assert [line.partition(":")[0] for line in headings] == [
        "1. priority 100", "Deployment shop/urgent", "2. priority 1", "Deployment shop/slow"]  # fmt: skip
    unknown = schedule(*several(tmp_path)[:3])
    assert 'warning: spec.schedulePriority: no PriorityClass "low" was given; 0 is assumed' in unknown.err


def test_a_workload_that_no_policy_selects_is_named(tmp_path: Path) -> None:
    arguments = several(tmp_path)
    ran = schedule(FOLDER / "web.yaml", *arguments[1:])
    assert (ran.code, ran.err) == (2, "error: Deployment web: none of the 2 policies selects it\n")


@pytest.mark.parametrize(("gate", "clusters"), [(True, ["cloud-us"]), (False, ["cloud-eu", "cloud-us"])])
def test_workload_affinity_is_applied_or_warned_of(tmp_path: Path, gate: bool, clusters: list[str]) -> None:
    """The first goes to cloud-us; the second, of the same team, may go to both clouds and follows if the gate is on."""
    arguments = several(tmp_path)
    policies = list(yaml.safe_load_all((tmp_path / "policies.yaml").read_text()))
    for policy in policies:
        policy["spec"]["placement"] |= {"workloadAffinity": {"affinity": {"groupByLabelKey": "team"}},
                                        "replicaScheduling": {"replicaSchedulingType": "Duplicated"}}  # fmt: skip
    policies[0]["spec"]["placement"]["clusterAffinity"]["clusterNames"] = ["cloud-us", "cloud-eu"]
    (tmp_path / "policies.yaml").write_text(yaml.safe_dump_all(policies))
    ran = schedule(*arguments, "-o", "json", *(("--feature-gates", "WorkloadAffinity=true") if gate else ()))
    urgent, slow = json.loads(ran.out)["schedules"]
    assert [one["name"] for one in urgent["clusters"]] == ["cloud-us"]
    assert sorted(one["name"] for one in slow["clusters"]) == clusters
    warned = any("workloadAffinity is heeded only with the feature gate" in one for one in slow["warnings"])
    assert warned is not gate


ELSEWHERE = [  # the policy's term, the other binding's group, where the other is, where the workload may go
    ("affinity", "affinityGroup", "cloud-us", ["cloud-us"]),
    ("affinity", "affinityGroup", "on-prem", []),
    ("antiAffinity", "antiAffinityGroup", "cloud-us", ["cloud-eu"]),
]


@pytest.mark.parametrize(("term", "group", "where", "clusters"), ELSEWHERE)
def test_workload_affinity_heeds_the_other_bindings_that_were_given(
    tmp_path: Path, term: str, group: str, where: str, clusters: list[str]
) -> None:
    workload = yaml.safe_load((FOLDER / "web.yaml").read_text())
    workload["metadata"]["labels"] = {"team": "shop"}
    (tmp_path / "web.yaml").write_text(yaml.safe_dump(workload))
    policy = yaml.safe_load((FOLDER / "web-policy.yaml").read_text())
    policy["spec"]["placement"] = {"clusterAffinity": {"clusterNames": ["cloud-us", "cloud-eu"]},
                                   "workloadAffinity": {term: {"groupByLabelKey": "team"}}}  # fmt: skip
    (tmp_path / "policy.yaml").write_text(yaml.safe_dump(policy))
    namespace = workload["metadata"].get("namespace", "default")
    bindings = [
        {"apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
         "metadata": {"name": name, "namespace": namespace},
         "spec": {"workloadAffinityGroups": {group: "team=shop"}, "clusters": placed}}
        for name, placed in (("web-deployment", []), ("cart-deployment", [{"name": where}]))
    ]  # fmt: skip
    (tmp_path / "bindings.yaml").write_text(yaml.safe_dump_all(bindings))
    given = (tmp_path / "web.yaml", "--policy", tmp_path / "policy.yaml", "--binding", tmp_path / "bindings.yaml")
    answer = decided(*given, "--feature-gates", "WorkloadAffinity=true")
    assert sorted(one["name"] for one in answer["clusters"]) == clusters
    ignored = decided(*given)
    assert sorted(one["name"] for one in ignored["clusters"]) == ["cloud-eu", "cloud-us"]
    assert any("workloadAffinity is heeded only with the feature gate" in one for one in ignored["warnings"])


def test_lint_names_what_a_release_does_not_know(tmp_path: Path) -> None:
    policy = yaml.safe_load((FOLDER / "web-policy.yaml").read_text())
    policy["spec"]["failover"] = {"application": {"purgeMode": "Immediately"}}
    path = tmp_path / "p.yaml"
    path.write_text(yaml.safe_dump(policy))
    newest, older = interp("lint", path), interp("lint", path, "--karmada", "1.18")
    assert (newest.code, older.code) == (1, 1)
    where = "purge-mode: spec.failover.application.purgeMode: "
    assert f"{where}Karmada 1.19 does not know 'Immediately': write Directly" in newest.out
    assert f"{where}'Immediately' is gone in Karmada 1.19: write Directly" in older.out
