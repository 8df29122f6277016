"""`interp schedule --binding NAMESPACE/NAME`: what is told of a binding in a live Karmada, over real HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from aiohttp import web

from tests.interp.command import Ran, interp

POLICY_LABEL = {"propagationpolicy.karmada.io/permanent-id": "1"}
NOTES = {"propagationpolicy.karmada.io/namespace": "shop", "propagationpolicy.karmada.io/name": "web"}
AGGREGATED = {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"}
CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/resourcebindings.work.karmada.io"
BINDINGS = "/apis/work.karmada.io/v1alpha2/namespaces/shop/resourcebindings"
POLICIES = "/apis/policy.karmada.io/v1alpha1/namespaces/shop/propagationpolicies"
QUOTAS = "/apis/policy.karmada.io/v1alpha1/namespaces/shop/federatedresourcequotas"
CLUSTERS = "/apis/cluster.karmada.io/v1alpha1/clusters"
EVENTS = "/api/v1/namespaces/shop/events"
SCHEMA = Path(__file__).parent.parent.parent / "docs" / "schemas" / "diagnosis-output.json"
Object = dict[str, Any]


class Karmada:
    """A control plane by the paths of its objects. A list is told without kinds, as real ones are."""

    def __init__(self) -> None:
        self.objects: dict[str, Object] = {}
        self.lists: dict[str, list[Object]] = {CLUSTERS: [], EVENTS: [], QUOTAS: [], POLICIES: []}
        self.forbidden: set[str] = set()
        self.address = ""

    async def answer(self, request: web.Request) -> web.Response:
        if request.path in self.forbidden:
            return web.json_response({"kind": "Status", "code": 403}, status=403)
        if request.path in self.objects:
            return web.json_response(self.objects[request.path])
        if request.path in self.lists:
            bare = [{key: value for key, value in item.items() if key not in ("kind", "apiVersion")}
                    for item in self.lists[request.path]]  # fmt: skip
            return web.json_response({"kind": "AList", "metadata": {}, "items": bare})
        return web.json_response({"kind": "Status", "code": 404}, status=404)

    def bind(self, **changes: Any) -> Object:
        """The binding shop/web-deployment: 6 replicas of one cpu that were never scheduled, and its policy."""
        placement = changes.pop("placement", {"replicaScheduling": AGGREGATED})
        binding: Object = {
            "apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
            "metadata": {"name": "web-deployment", "namespace": "shop", "labels": POLICY_LABEL, "generation": 2,
                         "annotations": {**NOTES, **changes.pop("annotations", {})}},
            "spec": {"resource": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web"},
                     "replicas": 6, "replicaRequirements": {"resourceRequest": {"cpu": "1"}, "namespace": "shop"},
                     "placement": placement, "schedulerName": "default-scheduler", **changes.pop("spec", {})},
            "status": {"conditions": [], **changes.pop("status", {})},
        }  # fmt: skip
        assert not changes
        self.objects[f"{BINDINGS}/web-deployment"] = binding
        self.objects[f"{POLICIES}/web"] = {"kind": "PropagationPolicy", "spec": {"placement": placement}}
        return binding


def cluster(name: str, cpu: str = "10", *, labels: dict[str, str] | None = None, taints: list[Object] | None = None,
            apis: bool = True) -> Object:  # fmt: skip
    resources = [{"name": "deployments", "kind": "Deployment"}] if apis else []
    return {
        "apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster",
        "metadata": {"name": name, "labels": labels or {}}, "spec": {"taints": taints or []},
        "status": {"conditions": [{"type": "Ready", "status": "True"}],
                   "apiEnablements": [{"groupVersion": "apps/v1", "resources": resources}],
                   "resourceSummary": {"allocatable": {"cpu": cpu, "pods": "100"}}},
    }  # fmt: skip


@pytest.fixture
async def karmada() -> AsyncIterator[Karmada]:
    found = Karmada()
    app = web.Application()
    app.router.add_get("/{path:.*}", found.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    found.address = f"http://127.0.0.1:{runner.addresses[0][1]}"
    target = {"properties": {"name": {}, "replicas": {}, "components": {}}}
    schema = {"properties": {"spec": {"properties": {"clusters": {"items": target}}}}}
    found.objects[CRD] = {"spec": {"versions": [{"name": "v1alpha2", "schema": {"openAPIV3Schema": schema}}]}}
    yield found
    await runner.cleanup()


@pytest.fixture
def kubeconfig(tmp_path: Path, karmada: Karmada) -> Path:
    path = tmp_path / "kubeconfig"
    content = {"current-context": "k", "clusters": [{"name": "k", "cluster": {"server": karmada.address}}],
               "users": [{"name": "u", "user": {}}],
               "contexts": [{"name": "k", "context": {"cluster": "k", "user": "u"}}]}  # fmt: skip
    path.write_text(yaml.safe_dump(content))
    return path


async def explained(kubeconfig: Path, *more: str, name: str = "shop/web-deployment") -> tuple[Ran, Any]:
    ran = await asyncio.to_thread(
        interp, "schedule", "--binding", name, "--kubeconfig", kubeconfig, "-o", "json", *more
    )
    found = json.loads(ran.out)
    jsonschema.validate(found, json.loads(SCHEMA.read_text()))
    return ran, found


def reasons(found: Any, about: str) -> list[tuple[str, str]]:
    return [(one["what"], one["remedy"]) for one in found["reasons"] if one["about"] == about]


def outcome(found: Any, name: str, group: int = 0) -> Any:
    return next(one for one in found["groups"][group]["clusters"] if one["cluster"] == name)


async def test_a_scheduled_binding_is_where_it_is_for_a_reason(karmada: Karmada, kubeconfig: Path) -> None:
    karmada.lists[CLUSTERS] = [cluster("a", "2"), cluster("b", "9")]
    placement = {"replicaScheduling": AGGREGATED}
    applied = {"policy.karmada.io/applied-placement": json.dumps(placement)}
    done = {"type": "Scheduled", "status": "True", "reason": "Success"}
    karmada.bind(annotations=applied, spec={"clusters": [{"name": "b", "replicas": 6}]}, status={"conditions": [done]})
    ran, found = await explained(kubeconfig)
    assert (ran.code, found["scheduled"], found["karmada"], found["reasons"]) == (0, True, "1.19", [])
    assert (outcome(found, "b")["verdict"], outcome(found, "b")["holds"], found["looksAgain"]) == ("chosen", True, "")
    karmada.lists[CLUSTERS] = [cluster("a", "2"), cluster("b", "9"), cluster("c", "99")]
    karmada.bind(annotations=applied, spec={"clusters": [{"name": "b", "replicas": 4}]}, status={"conditions": [done]})
    _, grown = await explained(kubeconfig)
    assert grown["looksAgain"] == "it wants 6 replicas and its clusters have 4"


async def test_not_enough_resource_tells_how_much_is_short(karmada: Karmada, kubeconfig: Path) -> None:
    karmada.lists[CLUSTERS] = [cluster("a", "2"), cluster("b", "1500m")]
    failed = {"type": "Scheduled", "status": "False", "reason": "Unschedulable", "message": "Clusters lack room"}
    karmada.bind(status={"conditions": [failed]})
    ran, found = await explained(kubeconfig)
    assert (ran.code, found["scheduled"]) == (1, False)
    assert reasons(found, "Scheduled") == [("Unschedulable: Clusters lack room", "see the clusters below")]
    assert found["groups"][0]["failure"] == "6 replicas wanted, room for 3 in 2 clusters"
    assert outcome(found, "a")["remedy"] == "free or add cpu 4 (free 2 of 6)"
    assert outcome(found, "b")["remedy"] == "free or add cpu 4500m (free 1500m of 6)"


NAMED = {"clusterAffinity": {"clusterNames": ["other"]}}
LABELLED = {"clusterAffinity": {"labelSelector": {"matchLabels": {"tier": "gold"}}}}
EXCLUDED = {"clusterAffinity": {"exclude": ["a"]}}
FIELDS = {"clusterAffinity": {"fieldSelector": {"matchExpressions": [
    {"key": "region", "operator": "In", "values": ["eu"]}]}}}  # fmt: skip
BY_REGION = {"spreadConstraints": [{"spreadByField": "region"}, {"spreadByField": "cluster"}]}
TAINT = [{"key": "gpu", "effect": "NoSchedule"}]
EVICTION = {"gracefulEvictionTasks": [{"fromCluster": "a", "reason": "TaintUntolerated", "producer": "TaintManager"}]}
OUTCOMES: list[tuple[str, Object, Object, Object, str, str]] = [
    ("not named", NAMED, cluster("a"), {}, "not among clusterNames", "add a to clusterNames of clusterAffinity"),
    ("not labelled", LABELLED, cluster("a"), {}, "not selected by labels",
     "kubectl label cluster a tier=gold, or widen labelSelector of clusterAffinity"),
    ("excluded", EXCLUDED, cluster("a"), {}, "on the exclude list", "take a off exclude of clusterAffinity"),
    ("another region", FIELDS, cluster("a"), {}, "not selected by fields",
     "widen fieldSelector of clusterAffinity: the cluster has provider none, region none, zones none"),
    ("tainted", {}, cluster("a", taints=TAINT), {}, "taint gpu:NoSchedule is not tolerated",
     "tolerate it in clusterTolerations, or take the taint off the cluster (gpu)"),
    ("without the API", {}, cluster("a", apis=False), {}, "apps/v1 Deployment is not enabled",
     "install apps/v1 Deployment in the cluster: it does not serve it"),
    ("evicted", {}, cluster("a"), EVICTION,
     "the workload is being evicted from it by TaintManager (TaintUntolerated)",
     "wait for the eviction to end, or remove it from spec.gracefulEvictionTasks"),
    ("without a region", BY_REGION, cluster("a"), {}, "has no region, which a spread constraint asks for",
     "set that field in the Cluster's spec, or drop the spread constraint"),
]  # fmt: skip


@pytest.mark.parametrize(("placement", "member", "spec", "because", "remedy"), [one[1:] for one in OUTCOMES],
                         ids=[one[0] for one in OUTCOMES])  # fmt: skip
async def test_each_obstacle_is_told_with_what_would_change_it(
    karmada: Karmada, kubeconfig: Path, placement: Object, member: Object, spec: Object, because: str, remedy: str
) -> None:
    karmada.lists[CLUSTERS] = [member]
    karmada.bind(placement={**placement, "replicaScheduling": AGGREGATED}, spec=spec)
    ran, found = await explained(kubeconfig)
    assert ran.code == 1
    assert (outcome(found, "a")["because"], outcome(found, "a")["remedy"]) == (because, remedy)


async def test_a_spread_constraint_that_passes_a_cluster_over_is_named(karmada: Karmada, kubeconfig: Path) -> None:
    karmada.lists[CLUSTERS] = [cluster("a", "10"), cluster("b", "20")]
    one = [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}]
    karmada.bind(placement={"spreadConstraints": one, "replicaScheduling": AGGREGATED})
    _, found = await explained(kubeconfig)
    assert (outcome(found, "a")["verdict"], outcome(found, "a")["remedy"]) == (
        "passedOver", "raise maxGroups of the spread constraint by cluster, now 1")  # fmt: skip


EVENT = {"type": "Warning", "reason": "GetComponentsFailed", "message": "webhook: connection refused",
         "lastTimestamp": "2026-01-01T00:00:00Z",
         "involvedObject": {"kind": "Deployment", "name": "web", "namespace": "shop"}}  # fmt: skip
STATES: list[tuple[str, Object, str, str, str]] = [
    ("suspended", {"spec": {"suspension": {"scheduling": True}}}, "suspension",
     "spec.suspension.scheduling is true: the scheduler leaves it alone", "set it to false"),
    ("another scheduler", {"spec": {"schedulerName": "mine"}}, "schedulerName",
     "mine decides, not karmada-scheduler", "is mine running?"),
    ("never looked at", {}, "Scheduled", "karmada-scheduler has not looked at it yet", "is karmada-scheduler up?"),
    ("quota", {"status": {"conditions": [{"type": "Scheduled", "status": "False", "reason": "QuotaExceeded",
                                          "message": "no"}]}}, "Scheduled", "QuotaExceeded: no",
     "raise the FederatedResourceQuota, or remove or shrink workloads: interp audit shows them"),
    ("not seen yet", {"status": {"schedulerObservedGeneration": 1, "conditions": [
        {"type": "Scheduled", "status": "True"}]}}, "Scheduled", "the scheduler has seen generation 1 of 2",
     "wait, or see that karmada-scheduler is up"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "about", "what", "remedy"), [one[1:] for one in STATES],
                         ids=[one[0] for one in STATES])  # fmt: skip
async def test_what_the_binding_shows_is_a_reason(
    karmada: Karmada, kubeconfig: Path, changes: Object, about: str, what: str, remedy: str
) -> None:
    karmada.lists[CLUSTERS] = [cluster("a")]
    karmada.bind(**json.loads(json.dumps(changes)))
    ran, found = await explained(kubeconfig)
    assert ran.code == 1
    assert (what, remedy) in reasons(found, about)


GONE = [  # the clusters of the binding, those of what it follows, what is said of the one that is gone
    ([{"name": "a", "replicas": 6}], [], None),
    ([{"name": "a", "replicas": 2}, {"name": "old", "replicas": 4}], [],
     ("old (4 replicas): it is assigned there, and there is no such cluster any more",
      "ask for a reschedule (a WorkloadRebalancer), or join the cluster again")),
    ([], [{"name": "web", "clusters": [{"name": "a"}, {"name": "old"}]}],
     ("it follows web to old, and there is no such cluster any more", "reschedule what it follows")),
]  # fmt: skip


@pytest.mark.parametrize(("clusters", "required", "said"), GONE)
async def test_a_cluster_that_is_no_more_is_named(
    karmada: Karmada, kubeconfig: Path, clusters: Any, required: Any, said: tuple[str, str] | None
) -> None:
    karmada.lists[CLUSTERS] = [cluster("a")]
    karmada.bind(spec={"clusters": clusters, "requiredBy": required})
    _, found = await explained(kubeconfig)
    told = [one for about in ("clusters", "requiredBy") for one in reasons(found, about) if "no such" in one[0]]
    assert told == ([said] if said else [])


async def test_a_quota_that_would_be_exceeded_is_a_reason(karmada: Karmada, kubeconfig: Path) -> None:
    karmada.lists[CLUSTERS] = [cluster("a")]
    used = {"overall": {"cpu": "8"}, "overallUsed": {"cpu": "5"}}
    quota = {"metadata": {"namespace": "shop", "name": "compute"}, "spec": {"overall": {"cpu": "8"}}, "status": used}
    karmada.lists[QUOTAS] = [quota]
    karmada.bind()
    _, found = await explained(kubeconfig)
    ((what, remedy),) = reasons(found, "FederatedResourceQuota shop/compute")
    assert what == "cpu: 6 wanted beside 5 of 8, 3 too much"
    assert remedy.startswith("raise the limit or free 3; ")


async def test_a_policy_that_is_gone_or_was_not_passed_on_is_a_reason(karmada: Karmada, kubeconfig: Path) -> None:
    karmada.lists[CLUSTERS] = [cluster("a")]
    karmada.bind()
    karmada.lists[EVENTS] = [EVENT, {**EVENT, "type": "Normal", "reason": "Fine"}]
    karmada.objects[f"{POLICIES}/web"]["spec"]["placement"] = {}
    _, found = await explained(kubeconfig)
    assert [what for what, _ in reasons(found, "policy")] == [
        "its policy says another placement than the binding: it was not passed on"]  # fmt: skip
    assert reasons(found, "event") == [
        ("GetComponentsFailed: webhook: connection refused", "ask it yourself: interp run, interp doctor")]  # fmt: skip
    del karmada.objects[f"{POLICIES}/web"]
    _, found = await explained(kubeconfig)
    assert [what for what, _ in reasons(found, "policy")] == [
        "the policy that made it cannot be found: the binding keeps its last placement"]  # fmt: skip


async def test_a_binding_that_is_not_there_is_explained_by_policies_and_events(
    karmada: Karmada, kubeconfig: Path
) -> None:
    ran, found = await explained(kubeconfig)
    assert (ran.code, found["scheduled"], found["decision"]) == (1, False, None)
    assert [what for what, _ in reasons(found, "policy")] == [
        "no policy selects a workload that would get this binding"]  # fmt: skip
    selector = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    policy = {"metadata": {"namespace": "shop", "name": "p"}, "spec": {"resourceSelectors": [selector]}}
    karmada.lists[POLICIES] = [policy]
    karmada.lists[EVENTS] = [EVENT]
    _, found = await explained(kubeconfig)
    assert [what for what, _ in reasons(found, "policy")] == [
        "PropagationPolicy shop/p could be about such a workload"]  # fmt: skip
    assert [what for what, _ in reasons(found, "event")] == ["GetComponentsFailed: webhook: connection refused"]


async def test_several_components_are_counted_in_sets(karmada: Karmada, kubeconfig: Path) -> None:
    karmada.lists[CLUSTERS] = [cluster("a", "3"), cluster("b", "9")]
    parts = [{"name": "jm", "replicas": 1, "replicaRequirements": {"resourceRequest": {"cpu": "1"}}},
             {"name": "tm", "replicas": 2, "replicaRequirements": {"resourceRequest": {"cpu": "2"}}}]  # fmt: skip
    one = [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}]
    binding = karmada.bind(placement={"spreadConstraints": one, "replicaScheduling": AGGREGATED})
    binding["spec"] |= {"components": parts, "replicas": 0, "replicaRequirements": None}
    del binding["spec"]["replicaRequirements"]
    _, found = await explained(kubeconfig)
    assert [(one["cluster"], one["available"]) for one in found["groups"][0]["clusters"]] == [("a", 0), ("b", 1)]
    assert [one["name"] for one in found["decision"]["clusters"]] == ["b"]
    binding["spec"]["clusters"] = [{"name": "a", "components": [{"name": "jm", "replicas": 1}]}]
    _, held = await explained(kubeconfig)
    assert outcome(held, "a")["available"] == 1, "its own pods are among those that fill the cluster"
    assert held["scheduled"]


async def test_one_component_without_replicas_goes_whole(karmada: Karmada, kubeconfig: Path) -> None:
    karmada.lists[CLUSTERS] = [cluster("a", "3"), cluster("b", "9")]
    binding = karmada.bind()
    part = {"name": "worker", "replicas": 4, "replicaRequirements": {"resourceRequest": {"cpu": "1"}}}
    binding["spec"] = {key: value for key, value in binding["spec"].items() if not key.startswith("replica")}
    binding["spec"]["components"] = [part]
    _, found = await explained(kubeconfig)
    assert [(one["name"], one["replicas"]) for one in found["decision"]["clusters"]] == [("b", None), ("a", None)]


async def test_what_may_not_be_read_is_left_out_and_named(karmada: Karmada, kubeconfig: Path) -> None:
    karmada.lists[CLUSTERS] = [cluster("a")]
    karmada.bind()
    karmada.forbidden = {EVENTS, CRD}
    ran, found = await explained(kubeconfig)
    assert found["karmada"] == "1.19"
    assert "does not show which Karmada it is; 1.19 is assumed" in ran.err
    assert f"warning: left out: GET {EVENTS}: HTTP 403" in ran.err


async def test_the_release_is_read_from_the_schema_unless_it_is_given(karmada: Karmada, kubeconfig: Path) -> None:
    karmada.lists[CLUSTERS] = [cluster("a")]
    karmada.bind()
    target = karmada.objects[CRD]["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    del target["properties"]["clusters"]["items"]["properties"]["components"]
    assert (await explained(kubeconfig))[1]["karmada"] == "1.18"
    assert (await explained(kubeconfig, "--karmada", "1.19"))[1]["karmada"] == "1.19"


async def test_people_get_a_table(karmada: Karmada, kubeconfig: Path) -> None:
    karmada.lists[CLUSTERS] = [cluster("a", "2"), cluster("b", taints=TAINT)]
    karmada.bind()
    ran = await asyncio.to_thread(interp, "schedule", "--binding", "shop/web-deployment", "--kubeconfig", kubeconfig)
    lines = ran.out.splitlines()
    assert lines[0] == "ResourceBinding shop/web-deployment of Deployment shop/web"
    assert lines[1].startswith("not scheduled")
    assert any("WHAT WOULD CHANGE IT" in line for line in lines)
    assert any(line.split()[:3] == ["a", "not", "enough"] and "free or add cpu 4" in line for line in lines)
    assert any(line.split()[:2] == ["b", "filtered"] and "tolerate it" in line for line in lines)
    assert lines[-1] == "Karmada decides again: it was never scheduled."


async def test_misuse_ends_with_two(kubeconfig: Path) -> None:
    for arguments, complaint in (
        ((), "name a WORKLOAD, or one live binding"),
        (("--binding", "shop/web", "--policy", "p.yaml"), "--policy goes with a WORKLOAD"),
        (("--binding", ""), "--binding: expected NAMESPACE/NAME, or NAME alone"),
        (("--binding", "shop/"), "--binding: expected NAMESPACE/NAME, or NAME alone"),
        (("--binding", "a/shop/web"), "--binding: expected NAMESPACE/NAME, or NAME alone"),
    ):
        ran = await asyncio.to_thread(interp, "schedule", "--kubeconfig", kubeconfig, *arguments)
        assert ran.code == 2
        assert complaint in ran.err
