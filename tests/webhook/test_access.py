"""Who may reach what: the path secret, the allow list, and the second listener with client certificates."""

from __future__ import annotations

import http.client
import json
import ssl
from pathlib import Path

import pytest

from certs.authority import issue
from certs.folder import Folder, make_folder, write_folder
from tests.webhook.server import ENVELOPE, KINDS, SCRIPTS, Client, Server, request

FLAGS = ["--scripts", str(SCRIPTS), "--bundled-language", "none", "--workers", "1"]
GOOD = {**ENVELOPE, "request": request("starlark", "InterpretHealth")}
SECRET = "at-least-sixteen-letters"


def test_with_a_path_secret_only_the_secret_path_answers_and_nothing_tells_it(certs: Path) -> None:
    with Server(certs, *FLAGS, environment={"INTERP_PATH_SECRET": SECRET}) as server:
        client = Client(server.port, certs / "ca.crt")
        assert client.post(GOOD, f"/interpret/{SECRET}?timeout=3s")[0] == 200
        for path in (
            "/interpret",
            "/interpret/",
            "/interpret/other",
            f"/interpret/{SECRET[:-1]}",
            f"/interpret/{SECRET}s",
        ):
            status, problem = client.post(GOOD, path)
            assert status == 404
            assert SECRET not in json.dumps(problem)
        assert SECRET not in json.dumps(client.get("/openapi.json")[1])
        assert SECRET not in client.get("/metrics")[1]
        assert SECRET not in json.dumps(server.lines())


@pytest.mark.parametrize(("network", "status"), [("127.0.0.0/8", 200), ("10.0.0.0/8", 403), ("::/0", 403)])
def test_only_allowed_networks_may_call(certs: Path, network: str, status: int) -> None:
    with Server(certs, *FLAGS, "--allow-from", network) as server:
        client = Client(server.port, certs / "ca.crt")
        assert client.post(GOOD)[0] == status
        assert client.get("/healthz")[0] == 200


@pytest.fixture(scope="module")
def clients(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A second authority, and a client certificate of it."""
    folder = tmp_path_factory.mktemp("clients")
    made = make_folder(folder, ["prometheus"])
    client = issue(made.authority, ["prometheus"], client=True)
    write_folder(folder, Folder(made.authority, made.trusted, client))
    return folder


def test_the_second_listener_takes_the_private_endpoints_and_demands_a_certificate(certs: Path, clients: Path) -> None:
    flags = [*FLAGS, "--admin-port", "0", "--client-ca", str(clients / "ca.crt")]
    with Server(certs, *flags) as server:
        assert server.admin_port
        public = Client(server.port, certs / "ca.crt")
        assert public.post(GOOD)[0] == 200
        assert public.get("/readyz")[0] == 200
        for path in ("/metrics", "/version", "/openapi.json"):
            assert public.get(path)[0] == 404

        private = Client(server.admin_port, certs / "ca.crt", client=clients)
        assert private.metric("interp_requests_total", outcome="ok") == 1
        assert private.get("/healthz")[0] == 200
        assert private.post(GOOD)[0] == 404
        assert "/interpret" in private.get("/openapi.json")[1]["paths"]

        for stranger in (
            Client(server.admin_port, certs / "ca.crt"),
            Client(server.admin_port, certs / "ca.crt", certs),
        ):
            with pytest.raises((ssl.SSLError, ConnectionError, http.client.HTTPException)):
                stranger.get("/metrics")


def test_a_client_authority_that_is_taken_away_is_trusted_no_more(certs: Path, clients: Path, tmp_path: Path) -> None:
    make_folder(tmp_path, ["somebody-else"])
    bundle = tmp_path / "bundle.crt"
    bundle.write_bytes((clients / "ca.crt").read_bytes())
    with Server(certs, *FLAGS, "--admin-port", "0", "--client-ca", str(bundle)) as server:
        assert server.admin_port
        client = Client(server.admin_port, certs / "ca.crt", client=clients)
        assert client.get("/healthz")[0] == 200
        bundle.write_bytes((tmp_path / "ca.crt").read_bytes())
        server.wait_for("reloaded", what="certificates")
        client.close()
        again = Client(server.admin_port, certs / "ca.crt", client=clients)
        with pytest.raises((ssl.SSLError, ConnectionError, http.client.HTTPException)):
            again.get("/healthz")


def test_old_tls_is_refused(server: Server, certs: Path) -> None:
    client = Client(server.port, certs / "ca.crt")
    client.context.minimum_version = client.context.maximum_version = ssl.TLSVersion.TLSv1_2
    assert client.get("/healthz")[0] == 200
    old = Client(server.port, certs / "ca.crt")
    with pytest.warns(DeprecationWarning):
        old.context.minimum_version = old.context.maximum_version = ssl.TLSVersion.TLSv1_1
    with pytest.raises(ssl.SSLError):
        old.get("/healthz")


def test_objects_are_logged_only_when_asked_for_and_secrets_never(certs: Path) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "data": {"password": "aHVzaA=="}}
    with Server(certs, *FLAGS, "--log-objects") as server:
        client = Client(server.port, certs / "ca.crt")
        client.interpret(request("starlark", "InterpretReplica", uid="shown", behaviour="fail", note="visible"))
        asked = request("starlark", "InterpretReplica", uid="hidden")
        client.interpret(asked | {"kind": {"group": "", "version": "v1", "kind": "Secret"}, "object": secret})
        client.interpret(asked | {"uid": "disguised", "object": secret})
        lines = {line["uid"]: json.dumps(line) for line in map(server.line_of, ("shown", "hidden", "disguised"))}
    assert "visible" in lines["shown"]
    assert "aHVzaA" not in lines["hidden"]
    assert "aHVzaA" not in lines["disguised"]


@pytest.mark.parametrize("language", KINDS)
def test_what_a_script_prints_is_logged_but_not_about_a_secret(certs: Path, language: str) -> None:
    told = request(language, "InterpretReplica", uid="told", behaviour="print", note="visible", replicas=1)
    holding = {"kind": "Secret", "data": "aHVzaA=="}
    hidden = request(language, "InterpretReplica", uid="hidden", behaviour="print", note=holding, replicas=1)
    with Server(certs, *FLAGS) as server:
        client = Client(server.port, certs / "ca.crt")
        assert client.interpret(told)["successful"]
        assert client.interpret(hidden)["successful"]
        line = server.wait_for("a script printed", uid="told")
        assert (line["level"], line["operation"], line["printed"].split()) == (
            "info", "InterpretReplica", ["the", "note", "is", "visible"],
        )  # fmt: skip
        assert server.wait_for("a script printed", uid="hidden")["printed"].startswith("not shown")
        assert "aHVzaA" not in json.dumps(server.lines())
