"""An audit finds what is wrong, says it with figures, and shows the same in every format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from estimator.accounting.audit.assembly import build_report
from estimator.accounting.audit.findings import RULES, Findings, finding
from estimator.accounting.audit.read_bindings import read_bindings
from estimator.accounting.audit.report import AuditReport
from estimator.accounting.audit.totals import Tally
from estimator.accounting.audit.what_if import Changes
from estimator.accounting.demand import Binding, binding_decoder, demand_of
from estimator.quotas.keys import count_key, read_key
from estimator.quotas.objects import Quota, read_quota
from interpreters.core.errors import DocumentError, InputError
from interpreters.core.karmada.releases import KARMADA_1_18, KARMADA_1_19
from tests.estimator.accounting.samples import binding, component, federated, limit

CPU_1 = {"resourceRequest": {"cpu": "1", "memory": "1Gi"}}


def parts(*replicas: int, **request: str) -> list[dict[str, Any]]:
    needs = {"resourceRequest": {"cpu": "1", "memory": "1Gi", **request}}
    return [{"name": f"c{i}", "replicas": count, "replicaRequirements": needs} for i, count in enumerate(replicas)]


def decoded(obj: dict[str, Any]) -> Binding:
    return binding_decoder.decode(json.dumps(obj))


def audit(*bindings: dict[str, Any], quotas: tuple[Quota, ...] = (), **options: Any) -> AuditReport:
    tally = Tally(multi_template_kinds={("flink.apache.org", "FlinkDeployment")}, **options)
    for obj in bindings:
        tally.add(decoded(obj))
    return build_report(tally, quotas)


def found(report: AuditReport) -> list[tuple[str, str]]:
    return [(item.code, item.evidence) for item in report.findings]


def reported(overall: dict[str, str], used: dict[str, str]) -> Quota:
    return read_quota(federated(overall) | {"status": {"overallUsed": used}})


LEGACY = binding(replicas=5, replicaRequirements=CPU_1, clusters=({"name": "m1", "replicas": 5},))
SPREAD = {"placement": {"spreadConstraints": [{"spreadByField": "cluster", "maxGroups": 1}]}}
NAMED = {"placement": {"clusterAffinity": {"clusterNames": ["m1"]}}}
RECORDED = binding(
    components=parts(1, 2),
    clusters=({"name": "m1", "components": [{"name": "c0", "replicas": 1}, {"name": "c1", "replicas": 2}]},),
)
BINDING_CASES = [
    ("nothing wrong", binding(components=parts(1, 2), clusters=("m1",)), []),
    ("not scheduled", binding(components=parts(1)), []),
    ("duplicate names", binding(components=[*parts(1), *parts(1)], clusters=("m1",)),
     [("duplicate-component", "two components are named 'c0'")]),
    ("no requests", binding(components=[{"name": "x", "replicas": 1}], clusters=("m1",)),
     [("requests-missing", "component x requests no cpu and memory")]),
    ("no requests, no pods", binding(components=[{"name": "x", "replicas": 0}], clusters=("m1",)), []),
    ("milli-bytes", binding(components=parts(1, memory="2048m"), clusters=("m1",)),
     [("milli-memory", "component c0 requests memory: 2048m, which is a fraction of a byte")]),
    ("whole milli-bytes", binding(components=parts(1, memory="2000m"), clusters=("m1",)), []),
    ("too many clusters", binding(components=parts(1), clusters=("m1", "m2"), **SPREAD),
     [("too-many-clusters", "2 clusters, the policy says at most 1")]),
    ("a strange cluster", binding(components=parts(1), clusters=("m1", "m2"), **NAMED),
     [("too-many-clusters", "runs in m2, which the policy does not name")]),
    ("components of clusters, as 1.19 records them", {**RECORDED, "spec": {**RECORDED["spec"], "requiredBy": [
        {"name": "other", "clusters": RECORDED["spec"]["clusters"]}]}}, []),
    ("an eviction as 1.18 knows it", binding(components=parts(1), clusters=("m1",), gracefulEvictionTasks=[
        {"fromCluster": "m2", "purgeMode": "Graciously"}, {"fromCluster": "m3", "purgeMode": "Never"}]),
     [("purge-mode", "is evicted from m2 by purgeMode Graciously, which Karmada 1.19 does not know")]),
    ("old accounting", LEGACY, [("legacy-maximum", "5 replicas of one pod template instead of components")]),
    ("no quantity", binding(components=parts(1, cpu="one"), clusters=("m1",)),
     [("unreadable", 'component c0 requests cpu: "one" is not a quantity: '
       "expected a number with an optional suffix n u m k M G T P E, Ki Mi Gi Ti Pi Ei, or an exponent such as e3")]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "obj", "expected"), BINDING_CASES, ids=[case[0] for case in BINDING_CASES])
def test_a_binding_shows_what_is_wrong_with_it(name: str, obj: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert found(audit(obj)) == expected


def test_a_purge_mode_is_judged_by_the_release() -> None:
    task = {"fromCluster": "m2", "purgeMode": "Immediately"}
    obj = binding(components=parts(1), clusters=("m1",), gracefulEvictionTasks=[task])
    assert found(audit(obj, release=KARMADA_1_18)) == []
    assert [code for code, _ in found(audit(obj, release=KARMADA_1_19))] == ["purge-mode"]


def test_scheduled_components_do_not_change_what_a_binding_costs() -> None:
    """Karmada multiplies spec.components by the number of clusters on every release."""
    plain = binding(components=parts(1, 2), clusters=("m1",))
    assert audit(RECORDED).namespaces == audit(plain).namespaces


FOUR_CPUS = binding(components=parts(1, 3), clusters=("m1",))
QUOTA_CASES = [
    ("plenty", limit({"cpu": "10"}), []),
    ("over", limit({"cpu": "3"}), [("over-limit", "cpu: used 4, limit 3, 1 too much")]),
    ("exactly at the limit", limit({"cpu": "4"}), [("near-limit", "cpu: used 4, limit 4, 100%")]),
    ("near", limit({"cpu": "4400m"}), [("near-limit", "cpu: used 4, limit 4.4, 91%")]),
    ("nothing allowed", limit({"cpu": "0"}), [("over-limit", "cpu: used 4, limit 0, 4 too much")]),
    ("status right", reported({"cpu": "10"}, {"cpu": "4"}), []),
    ("status wrong", reported({"cpu": "10"}, {"cpu": "12"}),
     [("reported-wrong", "cpu: status says 12, bindings add up to 4: no one or two bindings make the difference")]),
    ("status without the key", reported({"cpu": "10", "memory": "10Gi"}, {"memory": "4Gi"}),
     [("reported-wrong", "cpu: status says 0, bindings add up to 4: no one or two bindings make the difference")]),
    ("requests.", limit({"requests.cpu": "10"}),
     [("key-not-enforced", "requests.cpu is in spec.overall, but bindings never say requests.cpu")]),
    ("limits.", limit({"limits.memory": "1Gi"}),
     [("key-not-computed", "limits.memory: bindings carry requests, not limits")]),
    ("objects", limit({"services": "3"}),
     [("key-not-computed", "services: bindings of workloads do not count such objects")]),
    ("native", read_quota({"kind": "ResourceQuota", "metadata": {"namespace": "team-a", "name": "q"},
                               "spec": {"hard": {"requests.cpu": "3", "pods": "10"}},
                               "status": {"used": {"pods": "4"}}}),
     [("over-limit", "requests.cpu: used 4, limit 3, 1 too much")]),
    ("scoped away", read_quota({"kind": "ResourceQuota", "metadata": {"namespace": "team-a", "name": "q"},
                                    "spec": {"hard": {"cpu": "1"}, "scopeSelector": {"matchExpressions": [
                                        {"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}]}}}), []),
    ("undecided scope", read_quota({"kind": "ResourceQuota", "metadata": {"namespace": "team-a", "name": "q"},
                                        "spec": {"hard": {"cpu": "1"}, "scopes": ["Terminating"]}}),
     [("key-not-computed", "cpu: requests do not tell the scope Terminating")]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "quota", "expected"), QUOTA_CASES, ids=[case[0] for case in QUOTA_CASES])
def test_a_quota_shows_what_is_wrong_with_it(name: str, quota: Quota, expected: list[tuple[str, str]]) -> None:
    assert found(audit(FOUR_CPUS, quotas=(quota,))) == expected


KEYS = [
    ("cpu", "cpu", True), ("requests.cpu", "cpu", False), ("memory", "memory", True), ("pods", "pods", False),
    ("nvidia.com/gpu", "nvidia.com/gpu", True), ("requests.nvidia.com/gpu", "nvidia.com/gpu", False),
    ("hugepages-2Mi", "hugepages-2Mi", True), ("count/pods", "pods", False), ("limits.cpu", None, False),
    ("count/jobs.batch", "count/jobs.batch", False), ("requests.storage", None, False), ("secrets", None, False),
    ("gold.storageclass.storage.k8s.io/requests.storage", None, False), ("persistentvolumeclaims", None, False),
]  # fmt: skip


@pytest.mark.parametrize(("text", "resource", "enforced"), KEYS)
def test_a_key_names_a_resource_or_says_why_not(text: str, resource: str | None, enforced: bool) -> None:
    key = read_key(text)
    assert (key.resource, key.is_enforced_by_karmada) == (resource, enforced)
    assert bool(key.why) == (resource is None)


@pytest.mark.parametrize(
    ("group", "kind", "key"),
    [("apps", "Deployment", "count/deployments.apps"), ("", "Pod", "count/pods"), ("x", "Bus", "count/buses.x"),
     ("x", "Policy", "count/policies.x")],
)  # fmt: skip
def test_object_counts_are_spelled_as_kubernetes_spells_them(group: str, kind: str, key: str) -> None:
    assert count_key(group, kind) == key


def test_static_assignments_are_compared_cluster_by_cluster() -> None:
    quota = limit({"cpu": "100"}, staticAssignments=[{"clusterName": "m1", "hard": {"cpu": "3"}}])
    report = audit(FOUR_CPUS, binding("other", components=parts(2), clusters=("m2",)), quotas=(quota,))
    assert [(item.object, item.code) for item in report.findings] == [
        ("FederatedResourceQuota team-a/compute in cluster m1", "over-limit")
    ]
    assert report.namespaces[0].clusters == {
        "m1": {"cpu": "4", "memory": "4Gi", "pods": "4"},
        "m2": {"cpu": "2", "memory": "2Gi", "pods": "2"},
    }


def test_what_a_script_knows_turns_old_accounting_into_a_number() -> None:
    known = demand_of([component("jobmanager", 1, "1"), component("taskmanager", 4, "250m")])
    report = audit(LEGACY, known={"FlinkDeployment.flink.apache.org team-a/job": known})
    assert found(report) == [
        (
            "legacy-maximum",
            "5 replicas of one pod template instead of components; one set is charged cpu 5 instead of 2, "
            "memory 5 GiB instead of 0 B",
        )
    ]


def test_the_older_accounting_stands_beside_ours() -> None:
    jobs = binding(
        components=[
            {
                "name": "small",
                "replicas": 9,
                "replicaRequirements": {"resourceRequest": {"cpu": "100m", "memory": "1Gi"}},
            },
            {"name": "large", "replicas": 1, "replicaRequirements": {"resourceRequest": {"cpu": "2", "memory": "1Gi"}}},
        ],
        clusters=("m1",),
    )
    page = audit(jobs).namespaces[0]
    assert (page.used["cpu"], page.legacy["cpu"], page.overcharge) == ("2900m", "20", {"cpu": "17100m"})


def test_only_the_heaviest_are_listed() -> None:
    jobs = [binding(f"job-{i}", components=parts(i, 1), clusters=("m1",)) for i in range(1, 9)]
    page = audit(*jobs, most=2).namespaces[0]
    assert [(top.workload[-5:], top.used) for top in page.workloads if top.resource == "cpu"] == [
        ("job-8", "9"),
        ("job-7", "8"),
    ]
    assert [(top.component, top.used) for top in page.components if top.resource == "cpu"] == [("c0", "8"), ("c0", "7")]


def test_none_of_the_heaviest_need_be_listed() -> None:
    page = audit(FOUR_CPUS, most=0).namespaces[0]
    assert (page.workloads, page.components) == ([], [])


def test_a_workload_that_might_come_is_counted_as_if_it_ran() -> None:
    extra = decoded(binding("new", components=parts(4), clusters=("m1", "m2")))
    changes = Changes(bindings={extra.workload: extra})
    tally = Tally(replaced=changes.names)
    tally.add(decoded(FOUR_CPUS))
    report = build_report(tally, [reported({"cpu": "10"}, {"cpu": "4"})], what_if=changes)
    assert report.what_if is not None
    assert report.what_if.changes[0].adds == {"cpu": "8", "memory": "8Gi", "pods": "8"}
    assert found(report) == [("over-limit", "cpu: used 12, limit 10, 2 too much")], "the status is right as it is"


def test_findings_beyond_the_most_are_counted_and_the_first_by_name_are_kept() -> None:
    findings = Findings(most=2)
    for name in ("d", "a", "c", "b"):
        findings.add(finding("near-limit", name, "e"))
    assert findings.counts == {"near-limit": 4}
    assert [item.object for item in findings.listed()] == ["a", "b"]


def test_every_rule_says_what_to_do() -> None:
    assert all(rule.advice and rule.code == code for code, rule in RULES.items())


def write_dump(path: Path, objects: list[Any]) -> Path:
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    return path


def test_a_dump_may_hold_quotas_and_other_objects_and_broken_ones(tmp_path: Path) -> None:
    broken = binding("broken")
    broken["spec"]["replicas"] = "three"
    objects = [FOUR_CPUS, federated({"cpu": "3"}), {"kind": "ConfigMap", "metadata": {"name": "x"}}, broken]
    intake = read_bindings([write_dump(tmp_path / "dump.json", objects)], Tally())
    assert (intake.tally.bindings, intake.tally.ignored, len(intake.quotas)) == (1, {"ConfigMap": 1}, 1)
    (found,) = intake.tally.findings.listed()
    assert found.object == "ResourceBinding team-a/broken-flinkdeployment"
    assert found.evidence == f"{tmp_path}/dump.json, object 4: spec.replicas: expected a whole number, got text"


def test_an_error_in_a_file_ends_the_audit(tmp_path: Path) -> None:
    cut = tmp_path / "cut.json"
    cut.write_text('{"items": [{"kind":')
    with pytest.raises(DocumentError, match="cut off"):
        read_bindings([cut], Tally())


QUOTA = "FederatedResourceQuota team-a/compute: "
WRONG_QUOTAS: list[tuple[dict[str, Any], str]] = [
    ({"kind": "Pod"}, "expected a FederatedResourceQuota or ResourceQuota, got Pod"),
    (federated({"cpu": "many"}), f'{QUOTA}spec.overall.cpu: "many" is not a quantity'),
    (federated({"cpu": True}), f"{QUOTA}spec.overall.cpu: expected a quantity, got True"),  # type: ignore[dict-item]
    (federated({}, staticAssignments=[{"clusterName": "m1", "hard": {"cpu": "x"}}]),
     f'{QUOTA}spec.staticAssignments[0].hard.cpu: "x" is not a quantity'),
    (federated({}, staticAssignments={"m1": {}}), f"{QUOTA}spec.staticAssignments: expected a list, got"),
    (federated({}) | {"spec": []}, f"{QUOTA}spec: expected an object, got []"),
    (federated({}) | {"metadata": "x"}, "FederatedResourceQuota: metadata: expected an object, got 'x'"),
    (federated({}) | {"status": {"overallUsed": {"cpu": "x"}}}, f"{QUOTA}status.overallUsed.cpu: "),
    (federated({}) | {"status": {"aggregatedStatus": [7]}}, f"{QUOTA}status.aggregatedStatus[0]: expected an object"),
]  # fmt: skip


@pytest.mark.parametrize(("quota", "said"), WRONG_QUOTAS)
def test_what_is_no_quota_and_what_is_no_amount_are_refused_by_name(quota: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as caught:
        read_quota(quota)
    assert str(caught.value).startswith(said)
