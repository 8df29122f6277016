"""Flags of karmada-scheduler-estimator and their mistakes; probes and metrics over HTTP."""

from __future__ import annotations

import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from estimator.clusters.cluster import LiveCluster
from estimator.clusters.files import FileCluster
from estimator.service.clusters import find_clusters
from estimator.service.precedence import Precedence
from estimator.service.settings import Address, Settings
from interpreters.core.errors import InputError
from tests.estimator.clusters.objects import node
from tests.estimator.service.messages import replicas_request
from tests.estimator.service.serving import client, mirror, serving

KUBECONFIG = """
kind: Config
current-context: one
contexts: [{name: one, context: {cluster: c}}, {name: two, context: {cluster: d}}]
clusters: [{name: c, cluster: {server: "https://one:6443"}}, {name: d, cluster: {server: "https://two:6443"}}]
"""

ADDRESSES = [
    (":8080", Address("", 8080)),
    ("0.0.0.0:8080", Address("0.0.0.0", 8080)),
    ("[::1]:0", Address("::1", 0)),
    ("0", None),
    ("", None),
]


@pytest.mark.parametrize(("text", "address"), ADDRESSES)
def test_addresses_are_written_as_upstream_writes_them(text: str, address: Address | None) -> None:
    assert Address.parse(text, "--metrics-bind-address") == address


MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"parallelism": 0}, "--parallelism: expected 1 or more, got 0"),
    ({"server_port": 65536}, "--server-port: expected 0 to 65535, got 65536"),
    ({"server_port": -1}, "--server-port: expected 0 to 65535, got -1"),
    ({"lost_after": -1.5}, "--lost-after: expected seconds, 0 or more, got -1.5"),
    ({"grace_seconds": float("nan")}, "--grace: expected seconds, 0 or more, got nan"),
    ({"cert_file": Path("x")}, "--grpc-auth-cert-file and --grpc-auth-key-file belong together"),
    ({"feature_gates": "A=maybe"}, '--feature-gates: expected Name=true or Name=false, got "A=maybe"'),
    ({}, "no cluster to serve; name one with --cluster-name or --cluster"),
    ({"clusters": ["member1"]}, '--cluster: expected NAME=KUBECONFIG or NAME=FOLDER, got "member1"'),
    ({"clusters": ["a=.", "a=."]}, '--cluster: the name "a" is given twice'),
    ({"clusters": ["a=/nowhere"]}, "/nowhere: cannot be read: No such file or directory"),
    ({"cluster_name": "a"}, "no kubeconfig given and this is not a pod"),
]


@pytest.mark.parametrize(("settings", "problem"), MISTAKES)
def test_mistakes_are_named(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError) as refused:
        find_clusters(Settings(**settings), Precedence())
    assert str(refused.value).startswith(problem)


@pytest.mark.parametrize("text", ["8080", "host:port", ":99999"])
def test_an_address_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="--health-probe-bind-address: expected host:port"):
        Address.parse(text, "--health-probe-bind-address")


def test_a_cluster_is_a_kubeconfig_a_context_of_it_a_file_or_a_folder(tmp_path: Path) -> None:
    (tmp_path / "config").write_text(KUBECONFIG)
    (tmp_path / "all.json").write_text('{"kind": "List", "items": []}')
    sources = {
        "one": f"{tmp_path}/config",
        "two": f"{tmp_path}/config#two",
        "file": f"{tmp_path}/all.json",
        "dir": f"{tmp_path}",
    }
    settings = Settings(
        cluster_name="main",
        kubeconfig=tmp_path / "config",
        master="https://elsewhere:1/",
        clusters=[f"{name}={source}" for name, source in sources.items()],
        kube_api_qps=7,
    )
    clusters = find_clusters(settings, Precedence())
    servers = {name: each.access.server for name, each in clusters.items() if isinstance(each, LiveCluster)}
    assert servers == {"main": "https://elsewhere:1", "one": "https://one:6443", "two": "https://two:6443"}
    assert isinstance(clusters["file"], FileCluster) and isinstance(clusters["dir"], FileCluster)
    assert isinstance(clusters["one"], LiveCluster) and clusters["one"].throttle.rate == 7


def fetch(port: int, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


async def test_probes_and_metrics_are_served(tmp_path: Path) -> None:
    made = mirror(tmp_path, "member1", [node("a", cpu="4")])
    missing = f"broken={tmp_path}"
    local = {"probe_address": "127.0.0.1:0", "metrics_address": "127.0.0.1:0"}
    async with serving(made, missing, **local) as server, client(server) as stub:
        await stub.MaxAvailableReplicas(replicas_request("member1", {"cpu": "1"}))
        assert (await stub.MaxAvailableReplicas(replicas_request("broken", {"cpu": "1"}))).maxReplicas == -1
        assert fetch(server.probe_port, "/healthz") == (200, "ok")
        assert fetch(server.probe_port, "/readyz") == (200, "ok")
        assert fetch(server.probe_port, "/other")[0] == 404
        told = fetch(server.metrics_port, "/metrics")[1]
    for line in (
        'karmada_scheduler_estimator_estimating_request_total{result="success",type="MaxAvailableReplicas"} 2.0',
        'interp_estimator_no_opinion_total{cluster="broken",type="MaxAvailableReplicas"} 1.0',
        'interp_estimator_cluster_synced{cluster="member1"} 1.0',
        'interp_estimator_cluster_synced{cluster="broken"} 0.0',
        'interp_estimator_nodes{cluster="member1"} 1.0',
        'interp_estimator_staleness_seconds{cluster="member1"}',
        'karmada_scheduler_estimator_estimating_algorithm_duration_seconds_count{result="success",step="Total"',
    ):
        assert line in told


async def test_readiness_waits_for_the_first_sync(tmp_path: Path) -> None:
    async with serving(f"broken={tmp_path}", ready=False, probe_address="127.0.0.1:0") as server:
        assert fetch(server.probe_port, "/readyz") == (503, "not read yet: broken\n")
        assert fetch(server.probe_port, "/healthz") == (200, "ok")
