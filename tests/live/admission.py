"""Admission in front of a real API server: what it is asked about, what happens without interp, and a cold ledger.

Nobody acts on the bindings here, so the tests write them as Karmada would. `make live` runs them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.interp.command import Ran, interp
from tests.live.api import Api, Refused, collection, eventually, named
from tests.live.peers import karmada_api, permissive
from tests.webhook.server import Client, Server

DEPLOY = Path(__file__).parents[2] / "deploy"
GROUP = "flink.apache.org/v1beta1"
NAMESPACES = ("team-a", "spare", "own")


def flink(name: str, cpu: int, namespace: str = "team-a") -> dict[str, Any]:
    """A job with one task manager: two pods of that many processors."""
    manager = {"resource": {"cpu": cpu, "memory": "1024m"}}
    spec = {"jobManager": manager, "taskManager": {**manager, "replicas": 1}, "job": {"parallelism": 1}}
    return {**named(GROUP, "FlinkDeployment", name, namespace), "spec": spec}


def bound(name: str, cpu: str, *clusters: str, namespace: str = "team-a", **spec: Any) -> dict[str, Any]:
    """A binding of a Deployment that no script was asked about."""
    resource = {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": namespace, "name": name}
    part = {"name": "main", "replicas": 1, "replicaRequirements": {"resourceRequest": {"cpu": cpu}}}
    found = named("work.karmada.io/v1alpha2", "ResourceBinding", f"{name}-deployment", namespace)
    targets = [{"name": cluster} for cluster in clusters]
    return {**found, "spec": {"resource": resource, "components": [part], "clusters": targets, **spec}}


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    definitions = [permissive("flink.apache.org", "v1beta1", kind) for kind in ("FlinkDeployment", "FlinkSession")]
    for definition in definitions:
        definition["spec"]["versions"][0]["subresources"]["scale"] = {
            "specReplicasPath": ".spec.taskManager.replicas",
            "statusReplicasPath": ".status.taskManager.replicas",
        }
    with karmada_api(tmp_path_factory.mktemp("api"), definitions) as api:
        api.create(*(named("v1", "Namespace", name) for name in NAMESPACES))
        quota = named("policy.karmada.io/v1alpha1", "FederatedResourceQuota", "compute", "team-a")
        api.create({**quota, "spec": {"overall": {"cpu": "10"}}}, bound("before", "2", "m1", "m2"))
        whole = named("work.karmada.io/v1alpha2", "ResourceBinding", "whole-flinkdeployment", "team-a")
        job = {"apiVersion": GROUP, "kind": "FlinkDeployment", "namespace": "team-a", "name": "whole"}
        api.create(flink("whole", 1), {**whole, "spec": {"resource": job, "clusters": [{"name": "m1"}]}})
        yield api


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ledger") / "ledger.db"


@pytest.fixture(scope="module")
def server(api: Api, ledger: Path) -> Iterator[Server]:
    flags = ["--ledger", f"sqlite:///{ledger}", "--kubeconfig", str(api.kubeconfig), "--workers", "1"]
    with Server(api.pki, *flags) as server:
        client = Client(server.port, api.pki / "ca.crt")
        eventually(lambda: client.get("/readyz/admit")[0] == 200, "the ledger was compared with the bindings")
        client.close()
        yield server


def register(api: Api, server: Server, *more: str) -> Ran:
    return interp("register", "--url", f"https://127.0.0.1:{server.port}/interpret", "--ca", api.pki / "ca.crt",
                  "--admission", "--apply", "--kubeconfig", api.kubeconfig, "--kinds", "FlinkDeployment",
                  "--exempt-namespace", "own", "--timeout", "3", "--yes", *more)  # fmt: skip


@pytest.fixture(scope="module")
def registered(api: Api, server: Server) -> Ran:
    ran = register(api, server, "--failure-policy", "Fail")
    assert ran.code == 0, ran.err

    def is_in_force() -> bool:  # the API server takes up a configuration a moment after it took it
        try:
            api.rehearse(flink("huge", 1000))
        except Refused:
            return True
        return False

    eventually(is_in_force, "admission is in force")
    return ran


@pytest.fixture
def client(api: Api, server: Server) -> Iterator[Client]:
    client = Client(server.port, api.pki / "ca.crt")
    yield client
    client.close()


MANIFESTS = [file for file in sorted(DEPLOY.glob("*/*.yaml")) if "\nkind: " in file.read_text()]


@pytest.mark.parametrize("file", MANIFESTS, ids=lambda file: file.name)
def test_a_real_api_server_takes_the_manifests(api: Api, file: Path) -> None:
    for document in yaml.safe_load_all(file.read_text()):
        plural = collection(document).replace("networkpolicys", "networkpolicies")
        api.ask("POST", f"{plural}?dryRun=All&fieldValidation=Strict", document)


def test_a_cold_ledger_is_filled_from_the_bindings_before_anything_is_decided(server: Server, ledger: Path) -> None:
    shown = interp("ledger", "show", ledger).out
    assert "team-a: charged cpu 6, memory 2Gi, pods 4" in shown
    assert "Deployment.apps team-a/before in m1, m2: cpu 4, pods 2 (confirmed)" in shown
    assert "FlinkDeployment.flink.apache.org team-a/whole in m1: cpu 2, memory 2Gi, pods 2 (confirmed)" in shown
    assert "by interp serve: added: cpu 0 → 4, pods 0 → 2" in shown


def test_registering_says_what_follows_and_the_api_server_compiles_the_conditions(api: Api, registered: Ran) -> None:
    assert "admission: failurePolicy Fail: while interp does not answer, nobody creates or changes" in registered.err
    held = api.ask("GET", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/interp-admission").body
    policies = {webhook["name"].partition(".")[0]: webhook["failurePolicy"] for webhook in held["webhooks"]}
    assert policies == {"workloads": "Fail", "bindings": "Fail", "scales": "Fail", "deletions": "Ignore",
                        "policies": "Ignore"}  # fmt: skip


def test_the_quota_holds_for_workloads_and_bindings(api: Api, registered: Ran) -> None:
    api.rehearse(flink("rehearsed", 2))
    api.create(flink("one", 1))
    with pytest.raises(Refused, match="403.*used 8, asked 4, limit 10, 2 too much"):
        api.create(flink("two", 2))
    with pytest.raises(Refused, match="403.*QuotaExceeded|403.*limit 10"):
        api.create(bound("late", "1", "m1", "m2", "m3"))
    refused = api.send("POST", collection(bound("late", "3")), bound("late", "3"))
    assert (refused.body["reason"], refused.body["code"]) == ("QuotaExceeded", 403), refused.body
    with pytest.raises(Refused, match="limit 10"):
        spec = {"clusters": [{"name": f"m{number}"} for number in range(4)]}
        api.change(bound("before", "2"), {"spec": spec})
    with pytest.raises(Refused, match="403.*scaled from 1 to 50 by its scale subresource"):
        api.change(flink("one", 1), {"spec": {"replicas": 50}}, "/scale")


NOT_ASKED = [  # what is done, none of which reaches interp
    lambda api: api.change(bound("before", "2"), {"metadata": {"labels": {"seen": "yes"}}}),
    lambda api: api.change(bound("before", "2"), {"status": {"schedulerObservedGeneration": 1}}, "/status"),
    lambda api: api.create(flink("elsewhere", 100, "own")),
    lambda api: api.create({**named(GROUP, "FlinkSession", "s", "team-a"), "spec": {"cpu": 1000}}),
    lambda api: api.create(named("v1", "ConfigMap", "settings", "team-a")),
    lambda api: api.change(flink("one", 1), {"status": {"state": "RUNNING"}}, "/status"),
    lambda api: api.change(flink("one", 1), {"spec": {"replicas": 0}}, "/scale"),
    lambda api: api.change(named(GROUP, "FlinkSession", "s", "team-a"), {"spec": {"replicas": 9}}, "/scale"),
]


@pytest.mark.parametrize("done", NOT_ASKED)
def test_nothing_else_waits_for_interp(api: Api, registered: Ran, client: Client, done: Any) -> None:
    before = client.metric("interp_admissions_total")
    done(api)
    assert client.metric("interp_admissions_total") == before


def test_without_interp_only_what_would_grow_is_stopped_by_fail(api: Api, registered: Ran, server: Server) -> None:
    guarded = flink("guarded", 1)
    guarded["metadata"]["finalizers"] = ["example.org/hold"]
    api.change(bound("before", "2"), {"spec": {"clusters": [{"name": "m1"}]}})
    api.create(guarded)
    server.stop()
    for refused in (lambda: api.create(flink("three", 1)), lambda: api.create(bound("three", "1", "m1")),
                    lambda: api.change(flink("one", 1), {"spec": {"job": {"parallelism": 2}}})):  # fmt: skip
        with pytest.raises(Refused, match="failed calling webhook"):
            refused()
    api.create(flink("four", 1, "own"))
    api.delete(flink("one", 1))
    api.delete(guarded)
    api.change(guarded, {"metadata": {"finalizers": None}})
    assert not api.find(guarded)
    assert register(api, server, "--failure-policy", "Ignore").code == 0
    eventually(lambda: api.send("POST", f"{collection(guarded)}?dryRun=All", flink("three", 100)).status == 201, "open")
