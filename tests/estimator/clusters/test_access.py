"""Kubeconfigs and credentials, tried at an API server that asks for them."""

from __future__ import annotations

import base64
import json
import ssl
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from estimator.clusters.apiserver import ApiError, ApiServer
from estimator.clusters.credentials import ExecPlugin, TokenFile
from estimator.clusters.kubeconfig import find_access, read_kubeconfig, service_account_access
from interpreters.core.errors import InputError
from tests.estimator.clusters.apiserver_double import ApiServerDouble
from tests.estimator.service.authority import Authority

Start = Callable[..., Any]


@pytest.fixture
async def double() -> AsyncIterator[ApiServerDouble]:
    server = ApiServerDouble()
    yield server
    await server.stop()


def kubeconfig(folder: Path, server: str, user: dict[str, Any], **cluster: Any) -> Path:
    path = folder / "config"
    path.write_text(
        yaml.safe_dump(
            {
                "kind": "Config",
                "current-context": "it",
                "contexts": [{"name": "it", "context": {"cluster": "it", "user": "me"}}],
                "clusters": [{"name": "it", "cluster": {"server": server, **cluster}}],
                "users": [{"name": "me", "user": user}],
            }
        )
    )
    return path


async def fetch(path: Path, **more: str) -> bytes:
    async with ApiServer(find_access(path, **more)) as server:
        return await server.get("/api/v1/nodes")


def plugin(folder: Path, *prints: dict[str, Any]) -> dict[str, Any]:
    """An exec plugin that prints one credential after the other, and leaves what it was told in `seen.json`."""
    for i, status in enumerate(prints):
        (folder / f"print{i}").write_text(json.dumps({"kind": "ExecCredential", "status": status}))
    script = folder / "plugin.py"
    script.write_text(
        "import os, pathlib, sys\n"
        "here = pathlib.Path(sys.argv[1])\n"
        "runs = here / 'runs'\n"
        "run = int(runs.read_text()) if runs.exists() else 0\n"
        "runs.write_text(str(run + 1))\n"
        "(here / 'seen.json').write_text(os.environ['KUBERNETES_EXEC_INFO'])\n"
        "assert os.environ['EXTRA'] == 'yes'\n"
        "print((here / f'print{run}').read_text())\n"
    )
    return {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": sys.executable,
            "args": [str(script), str(folder)],
            "env": [{"name": "EXTRA", "value": "yes"}],
            "provideClusterInfo": True,
            "interactiveMode": "Never",
        }
    }


async def test_a_token_from_the_kubeconfig(tmp_path: Path, double: ApiServerDouble) -> None:
    double.token = "secret"
    await double.start()
    assert b"NodeList" in await fetch(kubeconfig(tmp_path, double.address, {"token": "secret"}))
    with pytest.raises(ApiError) as refused:
        await fetch(kubeconfig(tmp_path, double.address, {"token": "wrong"}))
    assert refused.value.status == 401
    assert str(refused.value).startswith("GET /api/v1/nodes: HTTP 401: ")


async def test_a_token_file_is_read_again_when_the_old_token_is_refused(
    tmp_path: Path, double: ApiServerDouble
) -> None:
    double.token = "first"
    await double.start()
    (tmp_path / "token").write_text("first\n")
    access = read_kubeconfig(kubeconfig(tmp_path, double.address, {"tokenFile": "token"}))
    async with ApiServer(access) as server:
        await server.get("/api/v1/nodes")
        double.token = "second"
        (tmp_path / "token").write_text("second\n")
        with pytest.raises(ApiError):
            await server.get("/api/v1/nodes")
        assert b"NodeList" in await server.get("/api/v1/nodes")


async def test_a_token_file_is_read_again_after_a_minute(tmp_path: Path) -> None:
    now = [0.0]
    (tmp_path / "token").write_text("first")
    credential = TokenFile(tmp_path / "token", clock=lambda: now[0])
    tokens = []
    for time, token in ((0.0, "second"), (59.0, "second"), (60.0, "third")):
        now[0] = time
        tokens.append((await credential.grant()).headers["Authorization"])
        (tmp_path / "token").write_text(token)
    assert tokens == ["Bearer first", "Bearer first", "Bearer second"]


async def test_an_exec_plugin_is_asked_once_and_again_when_its_token_is_refused(
    tmp_path: Path, double: ApiServerDouble
) -> None:
    double.token = "first"
    await double.start()
    user = plugin(tmp_path, {"token": "first"}, {"token": "second"})
    async with ApiServer(find_access(kubeconfig(tmp_path, double.address, user))) as server:
        await server.get("/api/v1/nodes")
        await server.get("/api/v1/nodes")
        assert (tmp_path / "runs").read_text() == "1"
        double.token = "second"
        with pytest.raises(ApiError):
            await server.get("/api/v1/nodes")
        assert b"NodeList" in await server.get("/api/v1/nodes")
    told = json.loads((tmp_path / "seen.json").read_text())
    assert told["kind"] == "ExecCredential" and told["spec"]["cluster"]["server"] == double.address


async def test_an_exec_plugin_is_asked_again_before_its_token_expires(tmp_path: Path) -> None:
    prints = [{"token": str(i), "expirationTimestamp": f"1970-01-01T00:{10 * (i + 1)}:00Z"} for i in range(2)]
    spec = plugin(tmp_path, *prints)["exec"]
    now = [0.0]
    credential = ExecPlugin(spec["command"], tuple(spec["args"]), {"EXTRA": "yes"}, wall_clock=lambda: now[0])
    tokens = []
    for now[0] in (0.0, 569.0, 571.0):
        tokens.append((await credential.grant()).headers["Authorization"])
    assert tokens == ["Bearer 0", "Bearer 0", "Bearer 1"]


BROKEN_PLUGINS = [
    (
        {"command": "/nowhere/plugin", "installHint": "get it there"},
        "cannot be started: No such file or directory; get it there",
    ),
    ({"command": "false"}, "failed with exit code 1: nothing on stderr"),
    ({"command": "echo", "args": ["hello"]}, "did not print an ExecCredential"),
    ({"command": "echo", "args": ['{"status": {}}']}, "printed an ExecCredential without token or certificate"),
]


@pytest.mark.parametrize(("spec", "problem"), BROKEN_PLUGINS)
async def test_an_exec_plugin_that_fails_says_so(tmp_path: Path, spec: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError) as failed:
        await fetch(kubeconfig(tmp_path, "http://127.0.0.1:1", {"exec": spec}))
    assert problem in str(failed.value)


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


async def test_client_certificates_in_files_in_the_kubeconfig_and_from_a_plugin(
    tmp_path: Path, double: ApiServerDouble
) -> None:
    authority = Authority()
    certificate_file, key_file = authority.write(tmp_path, "server")
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cadata=authority.pem.decode())
    tls.load_cert_chain(certificate_file, key_file)
    tls.verify_mode = ssl.CERT_REQUIRED
    tls.verify_flags &= ~ssl.VERIFY_X509_STRICT  # the authority has no key usage, as many clusters' have none
    await double.start(tls)
    certificate, key = authority.issue("interp")
    authority.write(tmp_path, "client")
    trusted = {"certificate-authority-data": encoded(authority.pem)}
    in_file = {"certificate-authority": authority.write_authority(tmp_path).name}
    users: list[dict[str, Any]] = [
        {"client-certificate-data": encoded(certificate), "client-key-data": encoded(key)},
        {"client-certificate": "client.crt", "client-key": "client.key"},
        plugin(tmp_path, {"clientCertificateData": certificate.decode(), "clientKeyData": key.decode()}),
    ]
    for user in users:
        assert b"NodeList" in await fetch(kubeconfig(tmp_path, double.address, user, **trusted))
    assert b"NodeList" in await fetch(kubeconfig(tmp_path, double.address, users[0], **in_file))
    unverified = {"insecure-skip-tls-verify": True}
    assert b"NodeList" in await fetch(kubeconfig(tmp_path, double.address, users[0], **unverified))
    for untrusted in (
        kubeconfig(tmp_path, double.address, {}, **trusted),
        kubeconfig(tmp_path, double.address, users[0]),
    ):
        with pytest.raises(OSError):
            await fetch(untrusted)


async def test_impersonation_basic_authentication_and_master(tmp_path: Path, double: ApiServerDouble) -> None:
    await double.start()
    user = {"username": "u", "password": "p", "as": "system:serviceaccount:a:b", "as-groups": ["one"], "as-uid": "7"}
    await fetch(kubeconfig(tmp_path, "http://127.0.0.1:1", user), master=double.address)
    sent = double.headers[-1]
    assert sent["Authorization"] == "Basic " + encoded(b"u:p")
    assert sent["Impersonate-User"] == "system:serviceaccount:a:b"
    assert (sent["Impersonate-Group"], sent["Impersonate-Uid"]) == ("one", "7")


def test_in_a_pod_the_service_account_is_used(tmp_path: Path) -> None:
    access = service_account_access(tmp_path, {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"})
    assert access.server == "https://[fd00::1]:443"
    assert access.authority_file == tmp_path / "ca.crt"
    assert isinstance(access.credential, TokenFile) and access.credential.path == tmp_path / "token"


MISTAKES = [
    ("- 1", "not a kubeconfig: "),
    ("{", "not YAML: "),
    ("{}", "no current-context, and none was named; it has: none"),
    ("current-context: a", 'no context "a"; it has: none'),
    (
        "{current-context: a, contexts: [{name: a, context: {cluster: c}}]}",
        'context "a" names cluster "c", which is not there',
    ),
    (
        "{current-context: a, contexts: [{name: a, context: {cluster: c, user: u}}],"
        " clusters: [{name: c, cluster: {server: x}}]}",
        'context "a" names user "u", which is not there',
    ),
    (
        "{current-context: a, contexts: [{name: a, context: {cluster: c}}], clusters: [{name: c, cluster: {}}]}",
        "the cluster has no server address",
    ),
    (
        "{current-context: a, contexts: [{name: a, context: {cluster: c}}],"
        " clusters: [{name: c, cluster: {server: x, certificate-authority-data: '?'}}]}",
        "certificate-authority-data is not base64",
    ),
    (
        "{current-context: a, contexts: [{name: a, context: {cluster: c, user: u}}],"
        " clusters: [{name: c, cluster: {server: x}}], users: [{name: u, user: {auth-provider: {name: gcp}}}]}",
        "auth-provider was removed from Kubernetes; use an exec plugin instead",
    ),
]


@pytest.mark.parametrize(("text", "problem"), MISTAKES)
def test_mistakes_in_a_kubeconfig_are_named(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "config"
    path.write_text(text)
    with pytest.raises(InputError) as refused:
        read_kubeconfig(path)
    assert str(refused.value).startswith(f"{path}: {problem}")


@pytest.mark.parametrize(("master", "advised"), [(None, False), ("", True)])
def test_outside_of_a_pod_only_flags_that_there_are_get_advised(
    monkeypatch: pytest.MonkeyPatch, master: str | None, advised: bool
) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(InputError, match="--kubeconfig") as error:
        find_access(None, "", master)
    assert ("--master" in str(error.value)) is advised
