"""`interp register --apply` sends the configuration to an API server by server-side apply."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from certs.folder import make_folder
from interp.verbs.register import command
from tests.webhook.server import SCRIPTS


class ApiServer(BaseHTTPRequestHandler):
    """Takes every PATCH and remembers it; refuses when told to."""

    received: list[tuple[str, str, Any]] = []
    status = 201

    def do_PATCH(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.received.append((self.path, self.headers["Content-Type"], json.loads(body)))
        answer = json.dumps({"message": "no"}).encode()
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Iterator[Path]:
    ApiServer.received = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), ApiServer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "karmada",
        "contexts": [{"name": "karmada", "context": {"cluster": "karmada", "user": "me"}}],
        "clusters": [{"name": "karmada", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}],
        "users": [{"name": "me", "user": {"token": "t"}}],
    }
    file = tmp_path / "kubeconfig"
    file.write_text(yaml.safe_dump(config))
    yield file
    server.shutdown()
    server.server_close()


def apply(kubeconfig: Path, *more: str) -> Any:
    make_folder(kubeconfig.parent, ["localhost"], force=True)
    arguments = ["--url", "https://localhost:8443/interpret", "--ca", str(kubeconfig.parent / "ca.crt"),
                 "--scripts", str(SCRIPTS / "stage.example.org"), "--bundled-language", "none", "--kinds", "Act",
                 "--apply", "--kubeconfig", str(kubeconfig), *more]  # fmt: skip
    return CliRunner().invoke(command, arguments)


def test_both_configurations_are_applied_where_they_belong(kubeconfig: Path) -> None:
    ApiServer.status = 201
    result = apply(kubeconfig, "--admission")
    assert result.exit_code == 0, result.output
    (first, kind, body), (second, _, _) = ApiServer.received
    name = "resourceinterpreterwebhookconfigurations/interp"
    assert first == f"/apis/config.karmada.io/v1alpha1/{name}?fieldManager=interp&force=true"
    assert second.startswith("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/interp-admission?")
    assert kind == "application/apply-patch+yaml"
    (rule,) = body["webhooks"][0]["rules"]
    assert rule["kinds"] == ["Act"]
    assert "InterpretComponent" in rule["operations"]
    assert f"{name} applied" in result.output


def test_a_refusal_is_passed_on(kubeconfig: Path) -> None:
    ApiServer.status = 403
    assert "403" in str(apply(kubeconfig).exception)
