"""A script that is taken away from a running server: what Karmada gets, what the server says, what doctor finds."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from interp.verbs.doctor import command
from tests.webhook.api_server import ApiServer, api_server
from tests.webhook.server import Client, Server, eventually
from tests.webhook.test_registration_check import CONFIGURATIONS, SHARING, registered

KIND = "stage.example.org/v1/Act"
ACT = {"apiVersion": "stage.example.org/v1", "kind": "Act", "metadata": {"name": "hamlet"}, "spec": {"replicas": 2}}
GONE = (
    "no longer answered: stage.example.org/v1 Act: InterpretReplica, ReviseReplica; what Karmada has registered of it"
)


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Iterator[Path]:
    with api_server(tmp_path) as file:
        yield file


def put(folder: Path, kind: str, text: str = SHARING) -> Path:
    (folder / kind).mkdir(parents=True)
    (folder / kind / "interpreter.lua").write_text(text)
    return folder


def doctor(server: Server, certs: Path, scripts: Path, kubeconfig: Path) -> list[tuple[str, str]]:
    sample = kubeconfig.parent / "sample.json"
    sample.write_text(json.dumps(ACT))
    flags = ["--ca", certs / "ca.crt", "--scripts", scripts, "--bundled-language", "none", "--kubeconfig", kubeconfig]
    url = f"https://localhost:{server.port}/interpret"
    result = CliRunner().invoke(command, [url, *map(str, flags), "--sample", str(sample), "-o", "json"])
    return [(one["level"], one["message"]) for one in json.loads(result.output)["findings"]]


def ask(client: Client) -> dict[str, Any]:
    request = {"uid": "1", "kind": {"group": "stage.example.org", "version": "v1", "kind": "Act"}, "name": "hamlet",
               "operation": "InterpretReplica", "object": ACT}  # fmt: skip
    response: dict[str, Any] = client.interpret(request)
    return response


def test_what_is_registered_and_gone_is_told_by_everybody_who_knows(
    certs: Path, kubeconfig: Path, tmp_path: Path
) -> None:
    here, there = put(tmp_path / "here", KIND), put(tmp_path / "there", KIND)
    put(there, "stage.example.org/v1/Play")
    with Server(certs, "--scripts", str(there), "--bundled-language", "none") as server:
        url = f"https://localhost:{server.port}/interpret"
        ApiServer.held[CONFIGURATIONS] = registered(KIND, "InterpretReplica", "ReviseReplica", url=url)
        assert [level for level, _ in doctor(server, certs, here, kubeconfig) if level == "error"] == []
        client = Client(server.port, certs / "ca.crt")
        assert ask(client)["successful"]

        shutil.rmtree(there / KIND)
        server.wait_for("operations are no longer answered; register again")
        assert ask(client)["status"]["code"] == 404, "Karmada's call fails, and says why"
        status, ready = client.get("/readyz")
        assert status == 200, "it answers for the other kinds"
        assert ready["warnings"]["scripts"].startswith(GONE)
        found = doctor(server, certs, here, kubeconfig)
        assert any(level == "warning" and message.startswith(GONE) for level, message in found)
        unanswered = "InterpretReplica, ReviseReplica registered, but no script of the running server answers"
        assert ("error", f"stage.example.org/v1 Act: {unanswered}") in found
        assert any("but no script answers" in message for _, message in doctor(server, certs, there, kubeconfig))

        put(there, KIND)
        eventually(lambda: "scripts" not in client.get("/readyz")[1].get("warnings", {}))
