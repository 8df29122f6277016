"""Certificates are checked by real TLS handshakes and by OpenSSL, not by reading back what was written."""

from __future__ import annotations

import json
import ssl
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from certs.authority import issue, make_authority, service_names, url_names
from certs.check import check_folder, covers
from certs.folder import make_folder, read_folder, renew_authority, renew_server, retire_authorities, write_folder
from interp.verbs.certs import command
from interpreters.core.errors import InputError

SCHEMA = Path(__file__).parents[2] / "docs/schemas/findings.json"


def shakes_hands(server: Path, bundle: bytes, name: str) -> bool:
    """A whole handshake in memory: the client trusts `bundle` alone and calls the server by `name`."""
    server_context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_context.load_cert_chain(server / "tls.crt", server / "tls.key")
    client_context = ssl.create_default_context(cadata=bundle.decode())
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = client_context.wrap_bio(to_client, to_server, server_hostname=name)
    side = server_context.wrap_bio(to_server, to_client, server_side=True)
    for _ in range(4):
        for end in (client, side):
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
            except ssl.SSLCertVerificationError:
                return False
    return client.version() is not None


NAMES = [  # how the server is called       names given           accepted
    ("interp.karmada-system.svc", service_names("karmada-system/interp:443"), True),
    ("interp.karmada-system.svc.cluster.local", service_names("karmada-system/interp"), True),
    ("interp.other.svc", service_names("karmada-system/interp"), False),
    ("webhook.example.org", url_names("https://webhook.example.org:8443/interpret"), True),
    ("127.0.0.1", url_names("https://127.0.0.1:8443"), True),
    ("::1", url_names("https://[::1]:8443"), True),
    ("127.0.0.2", url_names("https://127.0.0.1:8443"), False),
    ("a.example.org", ["*.example.org"], True),
    ("a.b.example.org", ["*.example.org"], False),
]


@pytest.mark.parametrize(("called", "names", "accepted"), NAMES)
def test_a_client_accepts_the_server_exactly_by_the_names_it_was_made_for(
    tmp_path: Path, called: str, names: list[str], accepted: bool
) -> None:
    folder = make_folder(tmp_path, names)
    assert shakes_hands(tmp_path, (tmp_path / "ca.crt").read_bytes(), called) is accepted
    assert covers(folder.server.certificate, called) is accepted


def test_keys_are_readable_by_their_owner_alone_and_never_overwritten_unasked(tmp_path: Path) -> None:
    make_folder(tmp_path, ["localhost"])
    assert {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("ca.key", "tls.key")} == {0o600}
    before = (tmp_path / "ca.key").read_bytes()
    with pytest.raises(InputError, match="interp certs rotate"):
        make_folder(tmp_path, ["localhost"])
    assert (tmp_path / "ca.key").read_bytes() == before
    make_folder(tmp_path, ["localhost"], force=True)
    assert (tmp_path / "ca.key").read_bytes() != before


def test_rotating_the_authority_never_locks_out_a_client_with_the_old_or_the_new_bundle(tmp_path: Path) -> None:
    make_folder(tmp_path, ["localhost"])
    old = (tmp_path / "ca.crt").read_bytes()
    write_folder(tmp_path, renew_authority(read_folder(tmp_path)))
    between = (tmp_path / "ca.crt").read_bytes()
    write_folder(tmp_path, renew_server(read_folder(tmp_path)))
    assert shakes_hands(tmp_path, old, "localhost")
    assert shakes_hands(tmp_path, between, "localhost")
    write_folder(tmp_path, renew_authority(read_folder(tmp_path)))  # twice in a row, before anyone caught up
    assert shakes_hands(tmp_path, old, "localhost")
    assert shakes_hands(tmp_path, between, "localhost")

    write_folder(tmp_path, retire_authorities(read_folder(tmp_path)))
    assert shakes_hands(tmp_path, (tmp_path / "ca.crt").read_bytes(), "localhost")
    assert not shakes_hands(tmp_path, old, "localhost")


def test_a_certificate_never_outlives_its_authority() -> None:
    authority = make_authority(days=3)
    server = issue(authority, ["localhost"], 30)
    assert server.certificate.not_valid_after_utc == authority.certificate.not_valid_after_utc


BREAKAGES = [  # what went wrong                what the check says
    (lambda path: (path / "tls.key").chmod(0o644), "others may read it"),
    (lambda path: make_folder(path / "other", ["localhost"]) and (path / "tls.key").write_bytes(
        (path / "other/tls.key").read_bytes()), "does not belong to tls.crt"),
    (lambda path: make_folder(path / "other", ["localhost"]) and (path / "ca.crt").write_bytes(
        (path / "other/ca.crt").read_bytes()), "no trusted authority issued"),
    (lambda path: (path / "tls.crt").write_text("hello"), "expected PEM certificates"),
    (lambda path: (path / "tls.crt").unlink(), "cannot be read"),
    (lambda path: (path / "tls.key").write_text("hello"), "cannot be used"),
]  # fmt: skip


@pytest.mark.parametrize(("breakage", "said"), BREAKAGES, ids=[said for _, said in BREAKAGES])
def test_check_names_what_is_broken_and_how_to_mend_it(tmp_path: Path, breakage, said: str) -> None:  # type: ignore[no-untyped-def]
    make_folder(tmp_path, ["localhost"])
    assert {finding.level for finding in check_folder(tmp_path, ["localhost"])} == {"ok"}
    breakage(tmp_path)
    (error,) = [finding for finding in check_folder(tmp_path, ["localhost"]) if finding.level == "error"]
    assert said in error.message
    assert error.fix


DATES = [  # days from now, level of the server certificate's dates
    (0, "ok"), (380, "warning"), (398, "error"), (-1, "error"),
]  # fmt: skip


@pytest.mark.parametrize(("days", "level"), DATES)
def test_check_warns_before_the_end_and_fails_after_it(tmp_path: Path, days: int, level: str) -> None:
    make_folder(tmp_path, ["localhost"])
    findings = check_folder(tmp_path, [], now=datetime.now(UTC) + timedelta(days=days))
    assert [finding.level for finding in findings if finding.subject == "server certificate"] == [level]


COMMANDS = [  # arguments                                         exit code, said
    (["make", "--service", "karmada-system/interp"], 0, "interp.karmada-system.svc"),
    (["check", "--name", "interp.karmada-system.svc"], 0, "ok"),
    (["check", "--name", "elsewhere.example.org"], 1, "not covered"),
    (["rotate", "--ca"], 0, "--retire"),
    (["check"], 0, "authority 2"),
    (["rotate", "--retire"], 0, "1 trusted"),
    (["rotate", "--ca", "--retire"], 2, "one at a time"),
    (["rotate", "--name", "10.0.0.1"], 0, "10.0.0.1"),
]


def test_the_command_makes_checks_and_rotates(tmp_path: Path) -> None:
    for arguments, code, said in COMMANDS:
        result = CliRunner().invoke(command, [*arguments, "--dir", str(tmp_path)])
        assert (result.exit_code, said in result.output) == (code, True), (arguments, result.output)
    result = CliRunner().invoke(command, ["check", "-o", "json", "--dir", str(tmp_path)])
    findings = json.loads(result.output)
    jsonschema.validate(findings, json.loads(SCHEMA.read_text()))
    assert {finding["level"] for finding in findings["findings"]} == {"ok"}


@pytest.mark.parametrize("text", ["http://example.org", "https://", "example.org", "https:/x"])
def test_a_url_must_be_https_with_a_host(text: str) -> None:
    with pytest.raises(InputError, match="https"):
        url_names(text)


@pytest.mark.parametrize("text", ["interp", "/interp", "ns/", ""])
def test_a_service_is_a_namespace_and_a_name(text: str) -> None:
    with pytest.raises(InputError, match="namespace/name"):
        service_names(text)
