"""A broken script of the operator's own fails for its kind, by name, and is never replaced by the bundled one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interpreters.files import read_documents
from tests.webhook.server import Client, Server

ROOT = Path(__file__).parents[2]
KIND = "flink.apache.org/v1beta1 FlinkDeployment"
BROKEN = "function GetReplicas(obj)\n  return 77\n"
MENDED = "function GetReplicas(obj)\n  return 77\nend\n"
CUSTOMIZATION = """
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: flink}
spec:
  target: {apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment}
  customizations: {replicaResource: {luaScript: 7}}
"""


def asked(operation: str, obj: dict[str, Any]) -> dict[str, Any]:
    group, _, version = obj["apiVersion"].rpartition("/")
    metadata = obj["metadata"]
    return {
        "uid": "u", "kind": {"group": group, "version": version, "kind": obj["kind"]}, "name": metadata["name"],
        "namespace": metadata["namespace"], "operation": operation, "object": obj, "replicas": 0,
    }  # fmt: skip


FLINK = read_documents(str(ROOT / "docs/examples/flink.yaml"))[0]
DEPLOYMENT: dict[str, Any] = {
    "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "default"},
    "spec": {"replicas": 2, "template": {"spec": {"containers": []}}},
}  # fmt: skip


@pytest.fixture
def script(tmp_path: Path) -> Path:
    file = tmp_path / "scripts/flink.apache.org/v1beta1/FlinkDeployment/interpreter.lua"
    file.parent.mkdir(parents=True)
    file.write_text(BROKEN)
    return file


@pytest.fixture
def broken(script: Path, certs: Path, tmp_path: Path) -> Iterator[Server]:
    ledger = f"sqlite:///{tmp_path / 'ledger.db'}"
    with Server(certs, "--scripts", str(tmp_path / "scripts"), "--workers", "1", "--ledger", ledger) as server:
        yield server


def test_its_kind_fails_with_the_scripts_error_and_other_kinds_go_on(broken: Server, certs: Path, script: Path) -> None:
    client = Client(broken.port, certs / "ca.crt")
    for operation in ("InterpretReplica", "InterpretComponent", "InterpretHealth"):
        status = client.interpret(asked(operation, FLINK))["status"]
        assert (status["code"], "'end' expected" in status["message"]) == (422, True)
    assert client.interpret(asked("InterpretReplica", DEPLOYMENT))["replicas"] == 2
    status, ready = client.get("/readyz")
    assert (status, ready["ready"], list(ready["brokenScripts"])) == (200, True, [str(script)])
    assert client.metric("interp_broken_scripts", kind=KIND) == 1
    assert KIND not in client.get("/version")[1]["kinds"]

    script.write_text(MENDED)
    broken.signal(signal.SIGHUP)
    broken.wait_for("reloaded", what="scripts")
    assert client.interpret(asked("InterpretReplica", FLINK))["replicas"] == 77
    assert client.interpret(asked("InterpretHealth", FLINK))["successful"], (
        "the bundled script answers what mine leaves"
    )
    assert "brokenScripts" not in client.get("/readyz")[1]
    assert client.metric("interp_broken_scripts", kind=KIND) == 0


def test_a_workload_of_its_kind_is_not_weighed_by_what_the_bundled_script_says(broken: Server, certs: Path) -> None:
    review = {
        "uid": "u", "kind": asked("", FLINK)["kind"], "name": "wordcount", "namespace": "streams",
        "operation": "CREATE", "object": FLINK,
    }  # fmt: skip
    envelope = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": review}
    response = Client(broken.port, certs / "ca.crt").post(envelope, "/admit")[1]["response"]
    assert (response["allowed"], "'end' expected" in response["warnings"][0]) == (True, True)  # there is no quota


WRONG_PLACES = [  # file, what it holds, part of the reason
    ("", "", "scripts: {place}: No such file or directory"),
    ("customizations.yaml", "kind: [", "scripts: {place}/customizations.yaml:"),
    ("customizations.yaml", "kind: Deployment", "expected a ResourceInterpreterCustomization"),
    ("interpreter.lua", BROKEN, "scripts: {place}/interpreter.lua:3: 'end' expected"),
]


@pytest.mark.parametrize(("name", "text", "reason"), WRONG_PLACES)
def test_scripts_whose_kind_nobody_can_tell_keep_the_server_from_starting(
    name: str, text: str, reason: str, certs: Path, tmp_path: Path
) -> None:
    place = tmp_path / "my-scripts"
    if name:
        place.mkdir()
        (place / name).write_text(text)
    ran = subprocess.run(
        [sys.executable, "-m", "interp", "serve", "--port", "0", "--certificate", str(certs / "tls.crt"),
         "--key", str(certs / "tls.key"), "--workers", "1", "--scripts", str(place)],
        capture_output=True, text=True, timeout=60, check=False, env=dict(os.environ),
    )  # fmt: skip
    assert ran.returncode == 2
    assert reason.format(place=place) in ran.stderr


def test_a_broken_customization_fails_for_the_kind_it_names(certs: Path, tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(CUSTOMIZATION)
    with Server(certs, "--scripts", str(file), "--workers", "1") as server:
        client = Client(server.port, certs / "ca.crt")
        status = client.interpret(asked("InterpretReplica", FLINK))["status"]
        assert (status["code"], "luaScript: expected text" in status["message"]) == (422, True)
        assert client.interpret(asked("InterpretReplica", DEPLOYMENT))["successful"]
