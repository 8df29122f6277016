"""The README's commands for a running webhook: the same request, checks and registration, against a real server."""

from __future__ import annotations

import json
import re
import ssl
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
import yaml

from certs.folder import make_folder
from tests.console import ROOT
from tests.webhook.server import Server

README = (ROOT / "README.md").read_text()
(BLOCK,) = [block for block in re.findall(r"^```sh\n(.*?)^```$", README, re.MULTILINE | re.DOTALL) if "curl" in block]


@pytest.fixture
def server(tmp_path: Path) -> Server:
    make_folder(tmp_path, ["localhost", "127.0.0.1"])
    with Server(tmp_path, "--ledger", f"sqlite:///{tmp_path}/ledger.db") as server:
        yield server


def test_the_curl_command_gets_the_components_of_a_flink_deployment(server: Server) -> None:
    body = ROOT / re.search(r"--data @(\S+)", BLOCK)[1]
    path = re.search(r"'https://localhost:8443(/\S+)'", BLOCK)[1]
    (header,) = re.findall(r"-H '([^']+)'", BLOCK)
    request = urllib.request.Request(
        f"https://localhost:{server.port}{path}", body.read_bytes(), dict([header.split(": ")]), method="POST"
    )
    trust = ssl.create_default_context(cafile=str(server.certs / "ca.crt"))
    with urllib.request.urlopen(request, context=trust, timeout=30) as answer:
        response = json.load(answer)["response"]
    assert response["successful"], response
    assert [component["name"] for component in response["components"]] == ["jobmanager", "taskmanager"]


@pytest.mark.parametrize("verb", ["doctor", "register"])
def test_the_other_commands_work_as_shown(verb: str, server: Server, tmp_path: Path) -> None:
    (line,) = [line for line in BLOCK.splitlines() if line.startswith(f".venv/bin/interp {verb} ")]
    line = line.replace("localhost:8443", f"localhost:{server.port}").replace("certs/dev/", f"{server.certs}/")
    arguments = line.partition(" > ")[0].split()[1:]
    done = subprocess.run(
        [sys.executable, "-m", "interp", *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    if verb == "register":
        assert yaml.safe_load(done.stdout)["kind"] == "ResourceInterpreterWebhookConfiguration"
