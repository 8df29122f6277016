"""Failed TLS handshakes are counted by reason and told in the log, but never so often that callers fill it."""

from __future__ import annotations

import http.client
import socket
import ssl
from collections import Counter
from pathlib import Path

import pytest

from certs.clients import make_client
from certs.folder import make_folder
from tests.webhook.server import SCRIPTS, Client, Server
from webhook.server.handshakes import MESSAGES, QUIET_SECONDS, Refusals

REFUSED = (ssl.SSLError, ConnectionError, http.client.HTTPException)
COUNTED = {("admin", "missing"): 3, ("admin", "refused"): 1, ("main", "distrusted"): 1, ("main", "protocol"): 1}


def test_each_reason_is_counted_and_told_once(certs: Path, tmp_path: Path) -> None:
    make_client(tmp_path, make_folder(tmp_path, ["localhost"]), "prometheus")
    flags = ["--scripts", str(SCRIPTS), "--bundled-language", "none", "--workers", "1"]
    with Server(certs, *flags, "--admin-port", "0", "--client-ca", str(tmp_path / "ca.crt")) as server:
        assert server.admin_port
        scraper = Client(server.admin_port, certs / "ca.crt")
        scraper.context.load_cert_chain(tmp_path / "clients/prometheus.crt", tmp_path / "clients/prometheus.key")
        for _ in range(3):
            with pytest.raises(REFUSED):
                Client(server.admin_port, certs / "ca.crt").get("/metrics")
        with pytest.raises(REFUSED):
            Client(server.admin_port, certs / "ca.crt", client=tmp_path).get("/metrics")  # a server's certificate
        with pytest.raises(REFUSED):
            Client(server.port, tmp_path / "ca.crt").get("/healthz")
        with socket.create_connection(("localhost", server.port)) as plain:
            plain.sendall(b"GET / HTTP/1.1\r\n\r\n")
            plain.recv(1024)
        told = {
            (listener, reason): server.wait_for(
                f"a TLS handshake failed: {MESSAGES[reason]}", listener=listener, reason=reason
            )["detail"]
            for listener, reason in COUNTED
        }
        assert "certificate purpose" in told["admin", "refused"]
        counted = {
            key: scraper.metric("interp_handshakes_failed_total", listener=key[0], reason=key[1]) for key in told
        }
        assert counted == {key: 3 if key[1] == "missing" else 1 for key in told}
        assert sum("handshake" in line["message"] for line in server.lines()) == len(told)


def test_a_flood_of_failures_is_one_line_in_a_while_that_tells_how_many_were_not_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    counted: Counter[tuple[str, str]] = Counter()
    now = 0.0
    refusals = Refusals(lambda *labels: counted.update([labels]), clock=lambda: now)
    for _ in range(1000):
        refusals.note("admin", ssl.SSLError(1, "http request"))
    assert len(caplog.records) == 1
    now = QUIET_SECONDS
    refusals.note("admin", ssl.SSLError(1, "http request"))
    assert [vars(record)["untoldBefore"] for record in caplog.records] == [0, 999]
    assert counted == {("admin", "protocol"): 1001}
