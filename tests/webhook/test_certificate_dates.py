"""A certificate that has ended, soon will, or has not begun is served, and spoken of in the log and /readyz."""

from __future__ import annotations

import json
import ssl
import time
import urllib.request
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from certs.folder import make_folder
from tests.webhook.server import SCRIPTS, Server


def write_certificate(folder: Path, begins: timedelta, ends: timedelta) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(x509.random_serial_number()).not_valid_before(now + begins).not_valid_after(now + ends)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    (folder / "tls.crt").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / "tls.key").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )


def readiness(server: Server) -> dict[str, Any]:
    """As the kubelet asks, which verifies nothing."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with urllib.request.urlopen(f"https://localhost:{server.port}/readyz", context=context) as answer:
        found: dict[str, Any] = json.load(answer)
    return found


def days(number: int) -> timedelta:
    return timedelta(days=number)


DATES = [  # begins, ends, level, words
    (days(-9), days(-1), "error", " expired on "),
    (days(1), days(9), "error", " is not valid before "),
    (days(-9), days(3), "warning", " expires on "),
]
FLAGS = ["--scripts", str(SCRIPTS), "--bundled-language", "none", "--workers", "1"]


@pytest.mark.parametrize(("begins", "ends", "level", "words"), DATES)
def test_an_untimely_certificate_is_told_of(
    begins: timedelta, ends: timedelta, level: str, words: str, tmp_path: Path
) -> None:
    write_certificate(tmp_path, begins, ends)
    with Server(tmp_path, *FLAGS) as server:
        said = server.wait_for("the certificate must be renewed")
        ready = readiness(server)
        assert (said["level"], words in said["reason"]) == (level, True)
        assert (ready["ready"], ready["warnings"]["certificate"]) == (True, said["reason"])
        assert str(tmp_path / "tls.crt") in said["reason"]


def test_it_is_told_when_its_time_comes_and_no_more_when_it_was_renewed(tmp_path: Path) -> None:
    write_certificate(tmp_path, days(-9), timedelta(days=14, seconds=5))
    with Server(tmp_path, *FLAGS) as server:
        server.wait_for("the certificate must be renewed")
        assert "expires on" in readiness(server)["warnings"]["certificate"]
        make_folder(tmp_path, ["localhost"], force=True)
        server.wait_for("reloaded", what="certificates")
        end = time.monotonic() + 20
        while "certificate" in readiness(server).get("warnings", {}):
            assert time.monotonic() < end
            time.sleep(0.05)
        lines = [line for line in server.lines() if line["message"] == "the certificate must be renewed"]
        assert len(lines) == 1, "once, not every second"
