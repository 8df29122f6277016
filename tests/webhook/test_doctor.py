"""`interp doctor` against real servers, healthy and ill: what it finds, what it advises, how it exits."""

from __future__ import annotations

import json
import ssl
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner, Result
from cryptography import x509
from cryptography.hazmat.primitives import hashes

from certs.folder import make_folder, read_folder, write_folder
from interp.verbs.doctor import command
from interpreters.core.errors import InputError
from tests.webhook.server import SCRIPTS, Server

ACTS = SCRIPTS / "stage.example.org/v1/Act"
SCHEMAS = Path(__file__).parents[2] / "docs/schemas"


def doctor(*arguments: str) -> Result:
    return CliRunner().invoke(command, [*arguments, "--scripts", str(ACTS), "--bundled-language", "none"])


def test_a_healthy_webhook_is_found_healthy_for_every_operation(server: Server, certs: Path) -> None:
    result = doctor(f"https://localhost:{server.port}/interpret", "--ca", str(certs / "ca.crt"), "--all")
    assert result.exit_code == 0, result.output
    for line in (
        "ok      name resolution",
        "ok      trust",
        "ok      name:",
        "ok      operations: 8",
        "ok      latency",
    ):
        assert line in result.output


def test_its_json_keeps_its_schema(server: Server, certs: Path) -> None:
    result = doctor(f"https://localhost:{server.port}/interpret", "--ca", str(certs / "ca.crt"), "-o", "json")
    schema = json.loads((SCHEMAS / "findings.json").read_text())
    jsonschema.validate(json.loads(result.output), schema)


def test_a_stranger_authority_is_named(server: Server, tmp_path: Path) -> None:
    make_folder(tmp_path, ["localhost"])
    result = doctor(f"https://localhost:{server.port}/interpret", "--ca", str(tmp_path / "ca.crt"))
    assert result.exit_code == 1
    assert "no trusted authority issued" in result.output
    assert "→ register again with the ca.crt" in result.output
    assert "error   handshake" in result.output
    assert "→ give the ca.crt" not in result.output  # explained above, and it was given


def test_without_a_bundle_one_is_asked_for(server: Server) -> None:
    result = doctor(f"https://localhost:{server.port}/interpret")
    assert result.exit_code == 1
    assert "→ give the ca.crt" in result.output


def test_an_expired_certificate_is_explained_once(tmp_path: Path) -> None:
    make_folder(tmp_path, ["localhost"])
    late = datetime.now(UTC) - timedelta(days=1000)
    folder = read_folder(tmp_path)
    expired = x509.CertificateBuilder().subject_name(folder.server.certificate.subject)
    expired = expired.issuer_name(folder.authority.certificate.subject).public_key(folder.server.key.public_key())
    expired = expired.serial_number(1).not_valid_before(late).not_valid_after(late + timedelta(days=1))
    names = x509.SubjectAlternativeName([x509.DNSName("localhost")])
    signed = expired.add_extension(names, critical=False).sign(folder.authority.key, hashes.SHA256())
    write_folder(tmp_path, replace(folder, server=replace(folder.server, certificate=signed)))
    with Stranger(tmp_path, b"") as port:
        result = doctor(f"https://localhost:{port}/interpret", "--ca", str(tmp_path / "ca.crt"))
    assert "server certificate: expired on" in result.output
    assert "error   handshake: certificate has expired" in result.output
    assert result.output.count("→") == 1


class Stranger:
    """An HTTPS server that answers everything with 200 and the same body; it tells its port."""

    def __init__(self, certs: Path, body: bytes) -> None:
        class Answer(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            asked = 0

            def do_POST(self) -> None:
                type(self).asked += 1
                self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.answer = Answer
        self._server = ThreadingHTTPServer(("localhost", 0), Answer)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certs / "tls.crt", certs / "tls.key")
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)

    def __enter__(self) -> int:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self._server.server_port

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


STRANGERS = [b"<html>hello</html>", b"{}", b"[]", b'{"apiVersion": "v1", "kind": "Status"}']


@pytest.mark.parametrize("body", STRANGERS)
def test_a_server_that_is_not_interp_is_found_out_by_the_first_answers(certs: Path, body: bytes) -> None:
    stranger = Stranger(certs, body)
    with stranger as port:
        result = doctor(f"https://localhost:{port}/interpret", "--ca", str(certs / "ca.crt"))
    assert result.exit_code == 1
    assert result.output.count("→ these are not answers of interp") == 1
    assert "3 operations: " in result.output
    assert "were not asked" in result.output
    assert stranger.answer.asked == 3


def test_one_cause_is_told_once_however_many_operations_meet_it(server: Server, certs: Path) -> None:
    for place in ("wrong", "interpret/without-the-right-secret"):
        result = doctor(f"https://localhost:{server.port}/{place}", "--ca", str(certs / "ca.crt"), "--all")
        assert sum(line.startswith("error") for line in result.output.splitlines()) == 1
        assert "(first for stage.example.org/v1 Act " in result.output
        assert result.output.count("→ the path is wrong") == 1


def test_the_listener_for_clients_with_certificates_is_told_from_the_one_for_karmada(certs: Path) -> None:
    flags = ["--scripts", str(SCRIPTS), "--bundled-language", "none", "--workers", "1"]
    with Server(certs, *flags, "--admin-port", "0", "--client-ca", str(certs / "ca.crt")) as server:
        result = doctor(f"https://localhost:{server.admin_port}/interpret", "--ca", str(certs / "ca.crt"))
    assert result.exit_code == 1
    assert "no answer" in result.output
    assert "a listener with clientCa (adminPort)" in result.output


ILLNESSES = [  # URL with the server's port, part of the finding, part of the advice
    ("https://nowhere.invalid:{port}/interpret", "name resolution: nowhere.invalid", "check its DNS"),
    ("https://localhost:1/interpret", "connection: localhost:1", "is the server up"),
    ("https://127.0.0.2:{port}/interpret", "127.0.0.2", ""),
    ("https://localhost:{port}/wrong", "HTTP status 404", "the path is wrong"),
]


@pytest.mark.parametrize(("url", "finding", "advice"), ILLNESSES)
def test_each_illness_is_named_with_what_to_do(
    server: Server, certs: Path, url: str, finding: str, advice: str
) -> None:
    result = doctor(url.format(port=server.port), "--ca", str(certs / "ca.crt"))
    assert result.exit_code == 1, result.output
    assert finding in result.output
    assert advice in result.output


def test_an_operation_that_nobody_answers_is_found(certs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "stage.example.org/v1/Act"
    folder.mkdir(parents=True)
    (folder / "interpreter.star").write_text("def InterpretHealth(obj):\n    return True\n")
    with Server(certs, "--scripts", str(tmp_path), "--bundled-language", "none", "--workers", "1") as poor:
        result = doctor(f"https://localhost:{poor.port}/interpret", "--ca", str(certs / "ca.crt"))
    assert result.exit_code == 1
    assert "stage.example.org/v1 Act InterpretComponent" in result.output
    assert "do not register InterpretComponent" in result.output
    assert "InterpretHealth" not in result.output.replace("offered are InterpretHealth", "")


URLS = [
    "http://localhost/interpret", "localhost:8443", "https:///x", "https://localhost/interpret?x=1",
    "https://localhost/interpret#x", "https://me@localhost/interpret",
]  # fmt: skip


@pytest.mark.parametrize("url", URLS)
def test_a_url_that_karmada_would_refuse_is_misuse(url: str) -> None:
    result = doctor(url)
    assert isinstance(result.exception, InputError)
    assert "Karmada" in str(result.exception)
