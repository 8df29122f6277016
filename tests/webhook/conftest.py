"""Certificates for the whole session, and one server that most tests share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from certs.folder import make_folder
from tests.webhook.server import SCRIPTS, Client, Server


@pytest.fixture(scope="session")
def certs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certs")
    make_folder(folder, ["localhost", "127.0.0.1"])
    return folder


@pytest.fixture(scope="session")
def server(certs: Path) -> Iterator[Server]:
    with Server(certs, "--scripts", str(SCRIPTS), "--bundled-language", "none", "--log-level", "info") as server:
        yield server


@pytest.fixture
def client(server: Server, certs: Path) -> Iterator[Client]:
    client = Client(server.port, certs / "ca.crt")
    yield client
    client.close()
