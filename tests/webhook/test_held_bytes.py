"""`maxBytes` counts the bodies of every endpoint that takes one: what one holds is not there for the others."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.webhook.server import SCRIPTS, Client, Server, eventually

ENDPOINTS = ["/interpret", "/estimate", "/admit", "/validate-policy"]
FILLING = json.dumps({"x": "y" * 4000}).encode()
NODE = {
    "kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"},
    "status": {"allocatable": {"cpu": "1", "memory": "1Gi", "pods": "9"}},
}  # fmt: skip


@pytest.fixture(scope="module")
def server(certs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("held")
    (folder / "east").mkdir()
    (folder / "east/nodes.json").write_text(json.dumps({"kind": "List", "items": [NODE]}))
    flags = [
        "--scripts", str(SCRIPTS), "--bundled-language", "none", "--workers", "1", "--max-bytes", "4096",
        "--ledger", f"sqlite:///{folder}/ledger.db", f"--clusters=east={folder}/east",
    ]  # fmt: skip
    with Server(certs, *flags) as server:
        yield server


@contextmanager
def half_a_body(server: Server, certs: Path, path: str) -> Iterator[None]:
    """A request whose first bytes have arrived and whose last have not."""
    context = Client(server.port, certs / "ca.crt").context
    with (
        socket.create_connection(("localhost", server.port), 30) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as tls,
    ):
        head = (
            f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9000\r\n\r\n"
        )
        tls.sendall(head.encode() + FILLING)
        yield


@pytest.mark.parametrize("holder", ENDPOINTS)
@pytest.mark.parametrize("other", ENDPOINTS)
def test_what_one_endpoint_holds_another_does_not_get(server: Server, certs: Path, holder: str, other: str) -> None:
    def answer() -> int:
        client = Client(server.port, certs / "ca.crt")
        status, _ = client.post(FILLING, other)
        client.close()
        return status

    with half_a_body(server, certs, holder):
        eventually(lambda: answer() == 429)
    assert eventually(lambda: (status := answer()) != 429 and status) in (200, 400), "once it is gone there is room"
