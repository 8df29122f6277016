"""Where the estimator listens: where it is told, else on the loopback, or everywhere with a certificate."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from certs.folder import make_folder
from tests.estimator.service.serving import mirror, serving
from tests.estimator.service.test_service import SMALL

LOOPBACK, OTHER, THIRD = "127.0.0.1", "127.0.0.2", "127.0.0.3"  # all of them on this machine, each its own address

# --bind-address, with TLS, on which addresses it is to be reached
ROWS = [
    ("", False, {LOOPBACK}),
    ("", True, {LOOPBACK, OTHER, THIRD}),
    ("0.0.0.0", False, {LOOPBACK, OTHER, THIRD}),
    (OTHER, False, {OTHER}),
    (OTHER, True, {OTHER}),
    ("::1", False, {"::1"}),
    ("[::1]", False, {"::1"}),
]


def reached(address: str, port: int) -> bool:
    try:
        socket.create_connection((address, port), 5).close()
    except OSError:
        return False
    return True


@pytest.mark.parametrize(("bind_address", "tls", "expected"), ROWS)
async def test_it_listens_there_and_nowhere_else(
    tmp_path: Path, bind_address: str, tls: bool, expected: set[str]
) -> None:
    if bind_address.strip("[]") == "::1" and not socket.has_dualstack_ipv6():
        pytest.skip("this machine has no IPv6")
    make_folder(tmp_path / "certs", ["localhost"])
    files = {"cert_file": tmp_path / "certs/tls.crt", "key_file": tmp_path / "certs/tls.key"} if tls else {}
    async with serving(mirror(tmp_path, "east", SMALL), bind_address=bind_address, **files) as server:
        asked = {LOOPBACK, OTHER, THIRD} | ({"::1"} & expected)
        assert {address for address in asked if reached(address, server.port)} == expected
