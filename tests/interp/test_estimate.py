"""`interp estimate` and `interp estimator` as users run them."""

from __future__ import annotations

import gzip
import json
import signal
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import grpc
import jsonschema
import pytest
import yaml

from estimator.service.pb import service_pb2_grpc
from estimator.service.settings import Settings
from interp.verbs.estimator import command
from tests.estimator.clusters.objects import node, pod, quota
from tests.estimator.service.messages import replicas_request
from tests.interp.command import interp

ROOT = Path(__file__).parent.parent.parent
FLINK = ROOT / "docs" / "examples" / "flink.yaml"
SCHEMA = ROOT / "docs" / "schemas" / "estimate-output.json"
SSD = {"disk": "ssd"}
ROOMY = [node("a", cpu="8", labels=SSD), node("b", cpu="16"), pod("busy", on="a", cpu="2")]
FULL = [node("a", cpu="1", labels=SSD)]
WEB = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {
        "replicas": 3,
        "template": {"spec": {"containers": [{"name": "web", "resources": {"requests": {"cpu": "500m"}}}]}},
    },
}
SUMMARY = {
    "apiVersion": "cluster.karmada.io/v1alpha1",
    "kind": "Cluster",
    "metadata": {"name": "summed"},
    "status": {"resourceSummary": {"allocatable": {"cpu": "100", "memory": "400Gi", "pods": "100"}}},
}


def write(path: Path, objects: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(exist_ok=True)
    text = json.dumps({"kind": "List", "items": objects}).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def test_clusters_stand_side_by_side(tmp_path: Path) -> None:
    roomy, full = write(tmp_path / "roomy.json.gz", ROOMY), write(tmp_path / "full.json", FULL)
    summed = write(tmp_path / "summed.json", [SUMMARY])
    ran = interp("estimate", FLINK, "--cluster", roomy, "--cluster", f"tight={full}", "--cluster", summed)
    assert ran.code == 0
    assert ran.out.splitlines() == [
        "FlinkDeployment streams/wordcount: jobmanager x 1 (cpu 1, memory 2Gi), taskmanager x 2 (cpu 2, memory 4Gi)",
        "CLUSTER  SETS  REPLICAS  BOUND BY",
        "roomy    1     3         NodeResources: taskmanager: insufficient cpu",
        "tight    0     0         NodeResources: taskmanager: insufficient cpu",
        "summed   20    60        ResourceSummary: free cpu",
    ]


def test_a_folder_per_cluster_and_the_parts_of_one(tmp_path: Path) -> None:
    for name, objects in (("east", ROOMY), ("west", FULL)):
        (tmp_path / "all" / name).mkdir(parents=True)
        write(tmp_path / "all" / name / "objects.json", objects)
    ran = interp("estimate", FLINK, "--cluster", tmp_path / "all")
    assert [line.split()[0] for line in ran.out.splitlines()[2:]] == ["east", "west"]
    nodes, pods = write(tmp_path / "nodes.json", ROOMY[:2]), write(tmp_path / "pods.json", ROOMY[2:])
    quotas = write(tmp_path / "quotas.json", [quota("q", {"cpu": "9"}, {"cpu": "9"}, namespace="streams")])
    without = interp("estimate", FLINK, "--nodes", nodes, "--pods", pods)
    assert (without.code, without.out.splitlines()[2].split()[:3]) == (0, ["cluster", "1", "3"])
    limited = interp("estimate", FLINK, "--nodes", nodes, "--pods", pods, "--quotas", quotas)
    assert limited.code == 1
    assert limited.out.splitlines()[2] == "cluster  0     0         ResourceQuota: quota streams/q, cpu"
    aside = interp("estimate", FLINK, "--nodes", nodes, "--pods", pods, "--quotas", quotas, "--no-quotas")
    assert aside.code == 0


def test_one_template_can_be_asked_for_in_replicas(tmp_path: Path) -> None:
    web = tmp_path / "web.yaml"
    web.write_text(yaml.safe_dump(WEB))
    cluster = write(tmp_path / "one.json", ROOMY)
    sets = interp("estimate", web, "--cluster", cluster).out.splitlines()
    assert sets[2].split()[:3] == ["one", "14", "42"]
    replicas = interp("estimate", web, "--cluster", cluster, "--replicas").out.splitlines()
    assert replicas[1].split()[:2] == ["CLUSTER", "REPLICAS"]
    assert replicas[2].split()[:2] == ["one", "44"]


@pytest.mark.parametrize("method", ["whole-sets", "first-fit-decreasing", "sum-and-verify"])
@pytest.mark.parametrize("more", [(), ("--replicas",), ("--explain",)])
def test_json_keeps_to_its_schema(tmp_path: Path, method: str, more: tuple[str, ...]) -> None:
    roomy, full = write(tmp_path / "roomy.json", [*ROOMY, SUMMARY]), write(tmp_path / "full.json", FULL)
    ran = interp("estimate", FLINK, "--cluster", roomy, "--cluster", full, "--method", method, *more, "-o", "json")
    assert ran.code == 0, ran.err
    document = json.loads(ran.out)
    jsonschema.validate(document, json.loads(SCHEMA.read_text()))
    (answered,) = document["workloads"]
    assert [source["estimator"] for source in answered["clusters"][0]["estimates"]] == ["accurate", "general"]
    assert [cluster["fits"] for cluster in answered["clusters"]] == [True, False]


def test_yaml_says_the_same_as_json(tmp_path: Path) -> None:
    cluster = write(tmp_path / "one.json", ROOMY)

    def steady(document: Any) -> Any:
        document["workloads"][0]["clusters"][0].pop("stalenessSeconds")
        return document

    as_json = interp("estimate", FLINK, "--cluster", cluster, "-o", "json").out
    as_yaml = interp("estimate", FLINK, "--cluster", cluster, "-o", "yaml").out
    assert steady(yaml.safe_load(as_yaml)) == steady(json.loads(as_json))


def test_explain_says_why(tmp_path: Path) -> None:
    ran = interp("estimate", FLINK, "--cluster", write(tmp_path / "one.json", [*ROOMY, SUMMARY]), "--explain")
    assert "one (accurate): 1 set (3 replicas), bound by NodeResources" in ran.out
    assert "one (general): 20 sets" in ran.out
    assert "1 didn't match the pod's node affinity/selector" in ran.out
    assert "on a, the closest node, cpu: wanted 2, free 0, lacking 2" in ran.out


class Lists(BaseHTTPRequestHandler):
    """Just enough of an API server for one look."""

    def do_GET(self) -> None:
        plural = self.path.partition("?")[0].rpartition("/")[2]
        kind = {"nodes": "Node", "pods": "Pod", "resourcequotas": "ResourceQuota"}[plural]
        items = [item for item in ROOMY if item["kind"] == kind]
        body = json.dumps({"kind": f"{kind}List", "metadata": {"resourceVersion": "1"}, "items": items}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def test_live_clusters_are_looked_at_by_context_and_one_that_is_down_is_said_to_be(tmp_path: Path) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Lists)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    config = tmp_path / "config"
    up, down = f"http://127.0.0.1:{server.server_address[1]}", "http://127.0.0.1:9"
    config.write_text(
        yaml.safe_dump(
            {
                "kind": "Config",
                "contexts": [{"name": name, "context": {"cluster": name}} for name in ("up", "down")],
                "clusters": [{"name": "up", "cluster": {"server": up}}, {"name": "down", "cluster": {"server": down}}],
            }
        )
    )
    contexts = ("--context", "up", "--context", "down")
    try:
        ran = interp("estimate", FLINK, "--kubeconfig", config, *contexts, "--timeout", "8")
    finally:
        server.shutdown()
    assert ran.code == 0
    rows = ran.out.splitlines()[2:]
    assert rows[0].startswith("up       1     3         NodeResources")
    assert rows[1].startswith("down     ?     ?         Cannot connect to host 127.0.0.1:9")


def test_an_empty_cluster_takes_nothing_and_its_neighbour_is_not_disturbed(tmp_path: Path) -> None:
    empty, full = write(tmp_path / "empty.json", []), write(tmp_path / "one.json", ROOMY)
    ran = interp("estimate", FLINK, "--cluster", empty, "--cluster", full)
    assert ran.code == 0
    assert ran.out.splitlines()[2] == "empty    0     0         NodeResources: the cluster has no nodes"
    assert interp("estimate", FLINK, "--cluster", empty).code == 1


MISTAKES = [
    ([FLINK], "which cluster? Name one with --cluster, --nodes or --kubeconfig."),
    ([FLINK, "--context", "x"], "--context names a context of --kubeconfig"),
    ([FLINK, "--cluster", "nowhere.json"], "nowhere.json: cannot be read"),
    ([FLINK, "--cluster", "service.yaml"], "neither a Node nor a Karmada Cluster object in it"),
    ([FLINK, "--pods", "one.json"], "--pods and --quotas tell of the cluster whose nodes --nodes names"),
    ([FLINK, "--cluster", "one.json", "--cluster", "one.json"], 'two clusters are called "one"'),
    (["service.yaml", "--cluster", "one.json"], "no script says what pods a"),
    ([FLINK, "--cluster", "one.json", "--method", "guess"], "Invalid value for '--method'"),
]


@pytest.mark.parametrize(("arguments", "problem"), MISTAKES)
def test_mistakes_are_misuse(tmp_path: Path, arguments: list[str], problem: str) -> None:
    write(tmp_path / "one.json", ROOMY)
    (tmp_path / "service.yaml").write_text("{apiVersion: v1, kind: Service, metadata: {name: s}}")
    ran = interp("estimate", *arguments, cwd=tmp_path)
    assert ran.code == 2, ran.out
    assert problem in ran.err


UPSTREAMS_MANIFEST = [
    "--kubeconfig=/etc/member1-kubeconfig",
    "--cluster-name=member1",
    "--grpc-auth-cert-file=/etc/karmada/pki/server/tls.crt",
    "--grpc-auth-key-file=/etc/karmada/pki/server/tls.key",
    "--grpc-client-ca-file=/etc/karmada/pki/server/ca.crt",
    "--metrics-bind-address=0.0.0.0:8080",
    "--health-probe-bind-address=0.0.0.0:10351",
]


def test_the_manifests_that_ship_are_understood() -> None:
    ours = yaml.safe_load_all((ROOT / "deploy" / "estimator" / "estimator.yaml").read_text())
    (deployment,) = [document for document in ours if document["kind"] == "Deployment"]
    verb, *arguments = deployment["spec"]["template"]["spec"]["containers"][0]["args"]
    assert verb == "estimator"
    for given in (
        arguments,
        UPSTREAMS_MANIFEST,
        [*UPSTREAMS_MANIFEST, "--bind-address=0.0.0.0", "--secure-port=10351"],
    ):
        context = command.make_context("estimator", list(given))
        fields = {key: value for key, value in context.params.items() if key in Settings.__dataclass_fields__}
        assert str(Settings(**fields).cert_file) == "/etc/karmada/pki/server/tls.crt"


def test_the_estimator_starts_with_upstreams_flags_and_stops_on_sigterm(tmp_path: Path) -> None:
    write(tmp_path / "one.json", ROOMY)
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "interp", "estimator", f"--cluster=member1={tmp_path / 'one.json'}"),
            *("--server-port=0", "--grpc-bind-address=127.0.0.1", "--metrics-bind-address=0"),
            *("--health-probe-bind-address=0", "--feature-gates=ResourceQuotaEstimate=true,AllAlpha=false"),
            *("--parallelism=16", "--kube-api-qps=20", "--kube-api-burst=30", "--logging-format=json", "--v=2"),
            "--insecure-skip-grpc-client-verify=true",
        ],
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert process.stderr is not None
    try:
        port = json.loads(process.stderr.readline())["message"].rpartition(" ")[2]
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            stub = service_pb2_grpc.EstimatorStub(channel)
            answer = -1
            for _ in range(100):
                answer = stub.MaxAvailableReplicas(replicas_request("member1", {"cpu": "1"}), timeout=5).maxReplicas
                if answer >= 0:
                    break
            assert answer == 22
    finally:
        process.send_signal(signal.SIGTERM)
        logged = process.stderr.read()
        assert process.wait(timeout=20) == 0
    assert "MaxAvailableReplicas of an unnamed object in cluster member1: 22" in logged
