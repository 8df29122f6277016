"""interp in front of a real Karmada: what was only recorded elsewhere is asked here by the program itself.

One control plane lives for all of it, and the tests tell one story in order. `make live` runs them; nothing else does.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
import yaml

from tests.interp.command import Ran, interp
from tests.live.api import Refused, eventually, named
from tests.live.peers import ESTIMATOR_PORT, ControlPlane, control_plane, free_port, permissive, process, scheduler
from tests.webhook.server import Client, Server

FLINK = Path(__file__).parents[2] / "docs/examples/flink.yaml"
ROOM = {"cpu": "8", "memory": "16Gi", "pods": "110"}  # of a node, for one of these jobs, not for two


def flink(name: str = "wordcount", namespace: str = "streams", **spec: Any) -> dict[str, Any]:
    job: dict[str, Any] = yaml.safe_load(FLINK.read_text())
    job["metadata"] = {"name": name, "namespace": namespace}
    job["spec"] |= spec
    return job


def components_of(file: Path) -> list[dict[str, Any]]:
    """What interp says itself."""
    found: list[dict[str, Any]] = yaml.safe_load(interp("run", "GetComponents", file).out)["components"]
    return found


def binding(job: dict[str, Any]) -> dict[str, Any]:
    """Which binding Karmada makes for an object."""
    name, namespace = job["metadata"]["name"], job["metadata"]["namespace"]
    return named("work.karmada.io/v1alpha2", "ResourceBinding", f"{name}-{job['kind'].lower()}", namespace)


def policy(namespace: str, **placement: Any) -> dict[str, Any]:
    """All Flink jobs of a namespace, with what they need, whole into one cluster that has room."""
    usual = {
        "clusterAffinity": {"clusterNames": ["member1"]},
        "spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}],
        "replicaScheduling": {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"},
    }
    selectors = [{"apiVersion": "flink.apache.org/v1beta1", "kind": "FlinkDeployment"}]
    spec = {"resourceSelectors": selectors, "placement": {**usual, **placement}, "propagateDeps": True}
    return {**named("policy.karmada.io/v1alpha1", "PropagationPolicy", "flink", namespace), "spec": spec}


def pod(name: str, on: str, cpu: str) -> dict[str, Any]:
    container = {"name": "main", "image": "none", "resources": {"requests": {"cpu": cpu}}}
    return {**named("v1", "Pod", name, "default"), "spec": {"nodeName": on, "containers": [container]}}


def add_node(plane: ControlPlane, name: str) -> None:
    """A node that takes pods: new ones are tainted until a controller, which is missing here, has seen them."""
    node = named("v1", "Node", name)
    plane.member.create({**node, "status": {"allocatable": ROOM, "capacity": ROOM}})
    plane.member.change(node, {"metadata": {"labels": {"disk": "ssd"}}, "spec": {"taints": None}})


def is_ready(url: str) -> bool:
    try:
        with urlopen(url):
            return True
    except OSError:
        return False


def clusters_of(plane: ControlPlane, job: dict[str, Any]) -> list[str]:
    """Where the scheduler sent a job."""
    targets = plane.karmada.find(binding(job)).get("spec", {}).get("clusters", [])
    return [target["name"] for target in targets]


def refusal_of(plane: ControlPlane, job: dict[str, Any]) -> str | None:
    """Why the scheduler sent a job nowhere, once it has tried."""
    conditions = plane.karmada.find(binding(job)).get("status", {}).get("conditions", [])
    return next((one["message"] for one in conditions if (one["type"], one["status"]) == ("Scheduled", "False")), None)


def explained(plane: ControlPlane, job: dict[str, Any]) -> Any:
    """What `interp schedule` says of the binding of a job; the exit code is 1 when it is nowhere."""
    place = f"{job['metadata']['namespace']}/{binding(job)['metadata']['name']}"
    ran = interp("schedule", "--binding", place, "--kubeconfig", plane.karmada.kubeconfig, "-o", "json")
    found = json.loads(ran.out)
    assert ran.code == (0 if found["scheduled"] else 1), ran.err
    return found


def state_and_health(plane: ControlPlane, job: dict[str, Any]) -> tuple[str | None, str | None]:
    """The state of a job as its template tells it, and its health as its binding tells it."""
    status = plane.karmada.find(job).get("status", {})
    members = plane.karmada.find(binding(job)).get("status", {}).get("aggregatedStatus") or [{}]
    return status.get("jobStatus", {}).get("state"), members[0].get("health")


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    flinks = permissive("flink.apache.org", "v1beta1", "FlinkDeployment")
    with control_plane(tmp_path_factory.mktemp("live"), [flinks]) as plane:
        plane.karmada.create(named("v1", "Namespace", "streams"), named("v1", "Namespace", "spare"))
        add_node(plane, "first")
        yield plane


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ledger") / "ledger.db"


@pytest.fixture(scope="module")
def server(plane: ControlPlane, ledger: Path) -> Iterator[Server]:
    flags = ["--ledger", f"sqlite:///{ledger}", "--kubeconfig", str(plane.karmada.kubeconfig),
             "--admission-modes", "spare=record", "--clusters", f"member1={plane.member.kubeconfig}"]  # fmt: skip
    with Server(plane.pki, *flags) as server:
        yield server


@pytest.fixture(scope="module")
def registered(plane: ControlPlane, server: Server) -> Ran:
    url = f"https://127.0.0.1:{server.port}/interpret"
    return interp("register", "--url", url, "--ca", plane.pki / "ca.crt", "--admission", "--apply",
                  "--kubeconfig", plane.karmada.kubeconfig)  # fmt: skip


@pytest.fixture(scope="module")
def scheduling(plane: ControlPlane, registered: Ran, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Karmada's scheduler, and `interp estimator` where it looks for the member's estimator: behind a Service."""
    port, folder = free_port(), tmp_path_factory.mktemp("scheduling")
    service = named("v1", "Service", "karmada-scheduler-estimator-member1", "karmada-system")
    ports = [{"port": ESTIMATOR_PORT, "targetPort": port}]
    plane.karmada.create({**service, "spec": {"type": "ExternalName", "externalName": "localhost", "ports": ports}})
    probe = free_port()
    flags = ["--cluster-name=member1", f"--kubeconfig={plane.member.kubeconfig}", f"--server-port={port}",
             "--metrics-bind-address=0", f"--health-probe-bind-address=127.0.0.1:{probe}"]  # fmt: skip
    with process(folder, sys.executable, "-m", "interp", "estimator", *flags) as check:
        eventually(lambda: check() or is_ready(f"http://127.0.0.1:{probe}/readyz"), "the estimator has read the member")
        with scheduler(folder, plane):
            yield


@pytest.fixture
def client(plane: ControlPlane, server: Server) -> Iterator[Client]:
    client = Client(server.port, plane.pki / "ca.crt")
    yield client
    client.close()


def test_karmada_accepts_the_registration(plane: ControlPlane, registered: Ran) -> None:
    assert registered.code == 0, registered.err
    interpreter, admission = [line.partition(" ")[0] for line in registered.out.splitlines()]
    assert plane.karmada.ask("GET", f"/apis/config.karmada.io/v1alpha1/{interpreter}").body["webhooks"]
    assert plane.karmada.ask("GET", f"/apis/admissionregistration.k8s.io/v1/{admission}").body["webhooks"]


def test_the_doctor_finds_nothing_to_fix(plane: ControlPlane, server: Server) -> None:
    ran = interp("doctor", f"https://127.0.0.1:{server.port}/interpret", "--ca", plane.pki / "ca.crt", "-o", "json")
    # How a machine hardens the server is its own affair: who tries this as root is warned of that.
    levels = {one["level"] for one in json.loads(ran.out)["findings"] if one["subject"] != "hardening"}
    assert (ran.code, levels) == (0, {"ok"}), ran.out


def test_the_binding_holds_the_components_that_the_webhook_answered(plane: ControlPlane, registered: Ran) -> None:
    plane.karmada.create(named("v1", "ServiceAccount", "flink", "streams"), policy("streams"), flink())
    bound = eventually(lambda: plane.karmada.find(binding(flink())), "the job is bound")
    assert bound["spec"]["components"] == components_of(FLINK)


def test_the_scheduler_asks_the_estimator_and_sends_the_job_where_it_fits(
    plane: ControlPlane, scheduling: None
) -> None:
    """That no node has the disk, only an estimator knows; by Karmada's own summary of the cluster there is room."""
    elsewhere = flink("elsewhere", "spare", podTemplate={"spec": {"nodeSelector": {"disk": "tape"}}})
    plane.karmada.create(policy("spare"), elsewhere)
    assert eventually(lambda: clusters_of(plane, flink()), "the job is scheduled") == ["member1"]
    refusal = eventually(lambda: refusal_of(plane, elsewhere), "the other job is looked at")
    assert refusal == "failed to select clusters: no enough resource when selecting 1 clusters"


def test_the_binding_is_the_one_that_interp_foretells(plane: ControlPlane, scheduling: None, tmp_path: Path) -> None:
    for name, obj in [("job", flink()), ("policy", policy("streams"))]:
        (tmp_path / name).write_text(json.dumps(plane.karmada.find(obj)))
    flags = ["--clusters", "member1", "--feature-gates", "MultiplePodTemplatesScheduling=true", "--like", "karmada"]
    release = ["--karmada", explained(plane, flink())["karmada"]]
    foretold = interp("bind", tmp_path / "job", "--policy", tmp_path / "policy", *flags, *release, "-o", "json")
    specs = [json.loads(foretold.out)["spec"], plane.karmada.find(binding(flink()))["spec"]]
    for spec in specs:
        del spec["resource"]["resourceVersion"]  # Karmada keeps the one it saw first
    assert specs[0] == specs[1]


def test_interp_says_why_a_job_is_where_it_is_or_nowhere(plane: ControlPlane, scheduling: None) -> None:
    """By the cluster's summary there is room for the other job, so what the scheduler heard elsewhere is told, too."""
    there, nowhere = explained(plane, flink()), explained(plane, flink("elsewhere", "spare"))
    verdicts = [one["verdict"] for one in there["groups"][0]["clusters"]]  # the policy names the first member only
    assert (there["scheduled"], verdicts) == (True, ["chosen", "excluded"])
    assert nowhere["scheduled"] is False
    [said] = [reason["what"] for reason in nowhere["reasons"] if reason["about"] == "Scheduled"]
    assert said.endswith("failed to select clusters: no enough resource when selecting 1 clusters")


def test_what_the_job_depends_on_comes_along(plane: ControlPlane, scheduling: None) -> None:
    account = binding(named("v1", "ServiceAccount", "flink", "streams"))
    bound = eventually(lambda: plane.karmada.find(account), "the job's service account is bound")
    assert [cause["name"] for cause in bound["spec"]["requiredBy"]] == ["wordcount-flinkdeployment"]


def test_the_member_gets_the_job_as_it_was_written(plane: ControlPlane, scheduling: None) -> None:
    copy = eventually(lambda: plane.member.find(flink()), "the job is in the member cluster")
    assert copy["spec"] == flink()["spec"]


@pytest.mark.parametrize(
    ("state", "health"), [("RECONCILING", "Unhealthy"), ("RUNNING", "Healthy")], ids=["starting", "running"]
)
def test_health_and_status_come_back(plane: ControlPlane, scheduling: None, state: str, health: str) -> None:
    """What Flink's operator would write in the member cluster is written here by hand."""
    plane.member.change(flink(), {"status": {"jobStatus": {"state": state}}}, "/status")
    eventually(lambda: state_and_health(plane, flink()) == (state, health), f"{state} and {health} are seen")


def test_the_api_server_refuses_what_breaks_a_quota(plane: ControlPlane, scheduling: None) -> None:
    quota = named("policy.karmada.io/v1alpha1", "FederatedResourceQuota", "compute", "streams")
    plane.karmada.create({**quota, "spec": {"overall": {"cpu": "6"}}})
    with pytest.raises(Refused, match="FederatedResourceQuota streams/compute: cpu: used 5, asked 5, limit 6"):
        eventually(lambda: plane.karmada.rehearse(flink("second")), "the quota is seen")


def test_the_audit_counts_as_karmada_does(plane: ControlPlane, scheduling: None) -> None:
    """What the quota's status says is counted by Karmada, what the audit says is used by interp."""

    def counted() -> tuple[str, str]:
        ran = interp("audit", "--kubeconfig", plane.karmada.kubeconfig, "-o", "json")
        [streams] = [one for one in json.loads(ran.out)["namespaces"] if one["namespace"] == "streams"]
        [line] = streams["quotas"][0]["lines"]
        return line["used"], line["reported"]

    eventually(lambda: counted() == ("5", "5"), "both count cpu 5")


def test_the_ledger_learned_everything_by_itself(plane: ControlPlane, ledger: Path, scheduling: None) -> None:
    ran = interp("ledger", "reconcile", ledger, "--kubeconfig", plane.karmada.kubeconfig)
    assert (ran.code, ran.out) == (0, ""), "a correction is printed"


def test_what_is_wrong_with_a_job_stands_in_its_events(plane: ControlPlane, scheduling: None) -> None:
    plane.karmada.create(flink("broken", "spare", jobManager={"resource": {"cpu": 1, "memory": "plenty"}}))

    def complaints() -> list[str]:
        events = plane.karmada.ask("GET", "/api/v1/namespaces/spare/events").body["items"]
        return [event["message"] for event in events if event["reason"] == "GetComponentsFailed"]

    assert "plenty" in eventually(complaints, "Karmada complains")[0]


def test_the_api_server_warns_of_a_policy_that_will_not_do_as_meant(plane: ControlPlane, registered: Ran) -> None:
    [warning] = plane.karmada.rehearse(policy("default", spreadConstraints=[]))
    assert "set spreadByField: cluster with minGroups: 1 and maxGroups: 1" in warning


def test_nodes_and_pods_are_followed(plane: ControlPlane, client: Client) -> None:
    def sets() -> int:
        status, answer = client.post({"workload": flink()}, "/estimate")
        assert status == 200, answer
        return int(answer["estimates"][0]["maxSets"])

    assert sets() == 1
    plane.member.create(pod("guest", on="first", cpu="4"))
    eventually(lambda: sets() == 0, "a pod takes the room")
    plane.member.delete(pod("guest", on="first", cpu="4"))
    eventually(lambda: sets() == 1, "the pod is gone")
    add_node(plane, "second")
    eventually(lambda: sets() == 3, "a node adds room")


def test_karmada_accepts_every_exported_customization(plane: ControlPlane) -> None:
    for customization in yaml.safe_load_all(interp("export").out):
        plane.karmada.rehearse(customization)


def test_an_exported_script_answers_the_same_inside_karmada(
    plane: ControlPlane, scheduling: None, client: Client
) -> None:
    """Karmada prefers a customization to a webhook, once it has seen it; from then on the webhook is asked no more."""
    plane.karmada.create(yaml.safe_load(interp("export", "FlinkDeployment").out))
    names = (f"within-{number}" for number in count())

    def answered_within() -> list[dict[str, Any]]:
        job = flink(next(names), "spare")
        before = client.metric("interp_requests_total", operation="InterpretComponent")
        plane.karmada.create(job)
        bound = eventually(lambda: plane.karmada.find(binding(job)), "the job is bound")
        asked = client.metric("interp_requests_total", operation="InterpretComponent") - before
        return [] if asked else bound["spec"]["components"]

    assert eventually(answered_within, "Karmada asks itself") == components_of(FLINK)
