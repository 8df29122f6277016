"""Certificates are checked by real TLS handshakes and by OpenSSL, not by reading back what was written."""

from __future__ import annotations

import json
import ssl
import stat
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from certs.authority import issue, make_authority, service_names, url_names
from certs.check import check_folder, covers
from certs.clients import make_client, renew_clients
from certs.folder import make_folder, read_folder, renew_authority, renew_server, retire_authorities, write_folder
from interp.verbs.certs import command
from interpreters.core.errors import InputError

SCHEMA = Path(__file__).parents[2] / "docs/schemas/findings.json"


def shakes_hands(
    server: Path, bundle: bytes, name: str, *, client: Path | None = None, demanded: bytes | None = None
) -> bool:
    """A whole handshake in memory: the client trusts `bundle` alone and calls the server by `name`; the server may
    demand a certificate from an authority of its own bundle, and the client show one."""
    server_context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_context.load_cert_chain(server / "tls.crt", server / "tls.key")
    client_context = ssl.create_default_context(cadata=bundle.decode())
    if demanded:
        server_context.verify_mode = ssl.CERT_REQUIRED
        server_context.load_verify_locations(cadata=demanded.decode())
    if client:
        client_context.load_cert_chain(client, client.with_suffix(".key"))
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    caller = client_context.wrap_bio(to_client, to_server, server_hostname=name)
    side = server_context.wrap_bio(to_server, to_client, server_side=True)
    for _ in range(4):
        for end in (caller, side):
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
            except ssl.SSLError:
                return False
    return caller.version() is not None and side.version() is not None


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


def test_a_client_certificate_proves_a_client_and_no_server(tmp_path: Path) -> None:
    folder = make_folder(tmp_path, ["localhost"])
    bundle = (tmp_path / "ca.crt").read_bytes()
    make_client(tmp_path, folder, "prometheus")
    client = tmp_path / "clients/prometheus.crt"
    assert stat.S_IMODE(client.with_suffix(".key").stat().st_mode) == 0o600
    assert shakes_hands(tmp_path, bundle, "localhost", client=client, demanded=bundle)
    assert not shakes_hands(tmp_path, bundle, "localhost", demanded=bundle)
    assert not shakes_hands(tmp_path, bundle, "localhost", client=tmp_path / "tls.crt", demanded=bundle)
    make_client(tmp_path, folder, "localhost")
    (tmp_path / "tls.crt").write_bytes((tmp_path / "clients/localhost.crt").read_bytes())
    (tmp_path / "tls.key").write_bytes((tmp_path / "clients/localhost.key").read_bytes())
    assert not shakes_hands(tmp_path, bundle, "localhost")


def test_rotating_the_authority_never_locks_out_a_client_certificate_that_was_handed_out_in_time(
    tmp_path: Path,
) -> None:
    make_client(tmp_path, make_folder(tmp_path, ["localhost"]), "prometheus")
    client = tmp_path / "clients/prometheus.crt"
    old = (tmp_path / "ca.crt").read_bytes()
    held = tmp_path / "held.crt"  # what the client goes on with until it is given the new one
    held.write_bytes(client.read_bytes())
    held.with_suffix(".key").write_bytes(client.with_suffix(".key").read_bytes())
    after = renew_authority(read_folder(tmp_path))
    write_folder(tmp_path, after)
    assert renew_clients(tmp_path, after) == ["prometheus"]
    between = (tmp_path / "ca.crt").read_bytes()
    for shown in (client, held):
        for demanded in (old, between):
            assert shakes_hands(tmp_path, between, "localhost", client=shown, demanded=demanded)
    write_folder(tmp_path, retire_authorities(read_folder(tmp_path)))
    after_all = (tmp_path / "ca.crt").read_bytes()
    assert shakes_hands(tmp_path, after_all, "localhost", client=client, demanded=after_all)
    assert not shakes_hands(tmp_path, after_all, "localhost", client=held, demanded=after_all)


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
    (lambda path: (path / "clients/prometheus.key").chmod(0o640), "others may read it"),
    (lambda path: (path / "clients/prometheus.crt").write_text("hello"), "clients/prometheus.crt: expected PEM"),
]  # fmt: skip


@pytest.mark.parametrize(("breakage", "said"), BREAKAGES, ids=[said for _, said in BREAKAGES])
def test_check_names_what_is_broken_and_how_to_mend_it(tmp_path: Path, breakage, said: str) -> None:  # type: ignore[no-untyped-def]
    make_client(tmp_path, make_folder(tmp_path, ["localhost"]), "prometheus")
    assert {finding.level for finding in check_folder(tmp_path, ["localhost"])} == {"ok"}
    breakage(tmp_path)
    error, *others = [finding for finding in check_folder(tmp_path, ["localhost"]) if finding.level == "error"]
    assert said in error.message
    assert "http" not in error.message  # our words, not those of a library
    assert str(tmp_path) in error.fix
    assert all(other.subject.startswith("client") and "trusted" in other.message for other in others)


MENDED = [  # what went wrong, names given
    (lambda path: (path / "tls.crt").write_text("hello"), ["--name", "localhost"]),
    (lambda path: (path / "tls.crt").unlink(), ["--url", "https://localhost:8443"]),
    (lambda path: (path / "tls.key").write_text("hello"), []),
    (lambda path: (path / "tls.key").unlink(), []),
]


@pytest.mark.parametrize(("breakage", "names"), MENDED)
def test_a_damaged_server_certificate_is_rotated_without_losing_the_authority(
    tmp_path: Path, breakage: Callable[[Path], object], names: list[str]
) -> None:
    make_folder(tmp_path, ["localhost"])
    bundle = (tmp_path / "ca.crt").read_bytes()
    breakage(tmp_path)
    (error,) = [finding for finding in check_folder(tmp_path, []) if finding.level == "error"]
    assert f"interp certs rotate --dir {tmp_path}" in error.fix
    result = CliRunner().invoke(command, ["rotate", "--dir", str(tmp_path), *names])
    assert result.exit_code == 0, result.output
    assert shakes_hands(tmp_path, bundle, "localhost")


def test_rotating_asks_for_the_names_that_a_damaged_certificate_no_longer_tells(tmp_path: Path) -> None:
    make_folder(tmp_path, ["localhost"])
    (tmp_path / "tls.crt").write_text("hello")
    with pytest.raises(InputError, match="--service or --name"):
        read_folder(tmp_path)


def test_an_authority_with_a_key_of_another_issues_nothing(tmp_path: Path) -> None:
    make_folder(tmp_path, ["localhost"])
    make_folder(tmp_path / "other", ["localhost"])
    (tmp_path / "ca.key").write_bytes((tmp_path / "other/ca.key").read_bytes())
    with pytest.raises(InputError, match="does not belong"):
        read_folder(tmp_path)


AGES = [  # days from now, what to do about the authority
    (3630, "rotate --dir {} --ca"), (3660, "make --dir {} --force"),
]  # fmt: skip


@pytest.mark.parametrize(("days", "advice"), AGES)
def test_an_authority_near_or_past_its_end_is_renewed_in_the_way_that_still_works(
    tmp_path: Path, days: int, advice: str
) -> None:
    make_folder(tmp_path, ["localhost"])
    findings = check_folder(tmp_path, [], now=datetime.now(UTC) + timedelta(days=days))
    (authority,) = [finding for finding in findings if finding.subject == "authority 1"]
    assert advice.format(tmp_path) in authority.fix


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
    (["client", "prometheus"], 0, "clients/prometheus.crt: for prometheus"),
    (["check"], 0, "client prometheus: valid until"),
    (["rotate", "--ca"], 0, "--retire"),
    (["check"], 0, "authority 2"),
    (["check"], 0, "client prometheus: issued by"),
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


BAD_NAMES = ["../bad", "two words", "", "-a", "a..b", "a.*.b", "a" * 64, ".".join(["abc"] * 70), "müller.example"]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_what_is_no_host_name_gets_no_certificate(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="host name"):
        make_folder(tmp_path, [name])
    made = make_folder(tmp_path, ["localhost"])
    with pytest.raises(InputError, match=r"host name|called by one name"):
        make_client(tmp_path, made, name)
    assert not list(tmp_path.glob("**/*bad*"))


@pytest.mark.parametrize("text", ["interp", "/interp", "ns/", ""])
def test_a_service_is_a_namespace_and_a_name(text: str) -> None:
    with pytest.raises(InputError, match="namespace/name"):
        service_names(text)
