"""What is wrong, or soon will be, with certificates, their keys and the bundle that the other side trusts."""

from __future__ import annotations

import ipaddress
import stat
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from typing import Literal

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from msgspec import Struct

from certs.authority import names_of
from certs.clients import client_files
from certs.folder import CA, CA_KEY, SERVER, SERVER_KEY, read_certificates, read_private_key
from interpreters.core.errors import InputError

WARN_DAYS = 30
Level = Literal["ok", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing checked. `level` is ok, warning or error; `fix` says what to do about the last two."""

    level: Level
    subject: str
    message: str
    fix: str = ""


class FindingsReport(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What `interp doctor` and `interp certs check` print as JSON: about a server, or about a folder."""

    url: str = ""
    folder: str = ""
    findings: list[Finding]


def check_folder(path: Path, names: list[str], *, now: datetime | None = None) -> list[Finding]:
    """Judge a folder made by `interp certs make`, or any folder with the same file names (a mounted Secret)."""
    now = now or datetime.now(UTC)
    certs = f"--dir {quote(str(path))}"
    findings = [_check_mode(path / name) for name in (SERVER_KEY, CA_KEY) if (path / name).exists()]
    try:
        trusted = read_certificates(path / CA) if (path / CA).exists() else []
        chain = read_certificates(path / SERVER)
    except InputError as error:
        return [*findings, Finding("error", "files", str(error), _way_back(path, certs))]
    findings.append(_check_pair(path / SERVER, path / SERVER_KEY, f"run `interp certs rotate {certs}`"))
    findings += check_chain(chain, trusted, names, now=now, options=f" {certs}")
    for client, (certificate, key) in client_files(path).items():
        findings += _check_client(client, certificate, key, trusted, now, f"run `interp certs client {client} {certs}`")
    return findings


def check_chain(
    chain: list[x509.Certificate],
    trusted: list[x509.Certificate],
    names: list[str],
    *,
    now: datetime | None = None,
    options: str = "",
) -> list[Finding]:
    """Judge what a server presents against what its clients trust and the names they call it by.

    `options` are what the commands advised must be given to find the server's folder.
    """
    now = now or datetime.now(UTC)
    rotate = f"interp certs rotate{options}"
    findings = [_check_dates("server certificate", chain[0], now, f"run `{rotate}`")]
    for index, authority in enumerate(trusted):
        findings.append(
            _check_dates(f"authority {index + 1}", authority, now, _renewal(authority, index, now, options))
        )
    findings += [_check_name(chain[0], name, rotate) for name in names]
    fix = f"register again with the ca.crt of the server's folder, or run `{rotate}` there"
    findings.append(_check_trust("trust", chain, trusted, fix))
    return findings


def covers(certificate: x509.Certificate, name: str) -> bool:
    """Whether a client that calls the server by this name accepts the certificate (RFC 6125: one leftmost wildcard)."""
    known = [known.lower() for known in names_of(certificate)]
    name = name.lower()
    try:
        return str(ipaddress.ip_address(name)) in known
    except ValueError:
        pass
    _, dot, parent = name.partition(".")
    return name in known or (bool(dot) and f"*.{parent}" in known)


def _way_back(path: Path, certs: str) -> str:
    """What to do about a folder whose certificates cannot be read, without losing an authority that is still whole."""
    try:
        read_certificates(path / CA)
        read_private_key(path / CA_KEY)
    except InputError:
        return f"restore it, or run `interp certs make {certs} --force` and register again"
    return f"run `interp certs rotate {certs}` with the server's names (--url, --service or --name)"


def _renewal(authority: x509.Certificate, index: int, now: datetime, options: str) -> str:
    """A new authority can be vouched for only as long as the old one is trusted; an older one is to be dropped."""
    if index:
        return f"run `interp certs rotate{options} --retire`"
    if now > authority.not_valid_after_utc:
        return f"run `interp certs make{options} --force` and register again"
    return f"run `interp certs rotate{options} --ca`"


def _check_client(
    name: str, certificate: Path, key: Path, trusted: list[x509.Certificate], now: datetime, fix: str
) -> list[Finding]:
    subject = f"client {name}"
    try:
        chain = read_certificates(certificate)
    except InputError as error:
        return [Finding("error", subject, str(error), fix)]
    findings = [_check_dates(subject, chain[0], now, fix), _check_trust(subject, chain, trusted, fix)]
    if key.exists():
        findings += [_check_mode(key), _check_pair(certificate, key, fix)]
    return findings


def _check_dates(subject: str, certificate: x509.Certificate, now: datetime, fix: str) -> Finding:
    end = certificate.not_valid_after_utc
    days = (end - now).days
    if now < certificate.not_valid_before_utc:
        begin = certificate.not_valid_before_utc
        return Finding("error", subject, f"not valid before {begin:%Y-%m-%d %H:%M}Z", "check this machine's clock")
    if now > end:
        return Finding("error", subject, f"expired on {end:%Y-%m-%d}", fix)
    if days < WARN_DAYS:
        return Finding("warning", subject, f"expires on {end:%Y-%m-%d}, in {days} days", fix)
    return Finding("ok", subject, f"valid until {end:%Y-%m-%d}, {days} days")


def _check_name(certificate: x509.Certificate, name: str, rotate: str) -> Finding:
    if covers(certificate, name):
        return Finding("ok", "name", f"{name} is covered")
    known = names_of(certificate)
    fix = f"run `{rotate} {' '.join(f'--name {each}' for each in [*known, name])}`"
    message = f"{name} is not covered: the certificate is for {', '.join(known) or 'no name at all'}"
    return Finding("error", "name", message, fix)


def _check_trust(subject: str, chain: list[x509.Certificate], trusted: list[x509.Certificate], fix: str) -> Finding:
    """Walk issuer by issuer from the certificate to something trusted."""
    if not trusted:
        return Finding("warning", subject, "no ca.crt: cannot tell who would trust this", "give the bundle")
    certificate = chain[0]
    for _ in range(len(chain) + 1):
        for authority in trusted:
            if _issued(certificate, authority):
                return Finding("ok", subject, f"issued by {_name(authority)}, which the bundle holds")
        following = next((link for link in chain[1:] if _issued(certificate, link)), None)
        if following is None:
            break
        certificate = following
    message = f"no trusted authority issued {_name(chain[0])}; its issuer is {chain[0].issuer.rfc4514_string()}"
    return Finding("error", subject, message, fix)


def _check_mode(path: Path) -> Finding:
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        return Finding("error", path.name, f"others may read it (mode {mode:04o})", f"chmod 600 {path}")
    return Finding("ok", path.name, f"mode {mode:04o}")


def _check_pair(certificate: Path, key: Path, fix: str) -> Finding:
    try:
        private = read_private_key(key)
    except InputError as error:
        return Finding("error", key.name, f"cannot be used: {error}", fix)
    if private.public_key() != read_certificates(certificate)[0].public_key():
        message = f"does not belong to {certificate.name}: one of the two is of another rotation"
        return Finding("error", key.name, message, fix)
    return Finding("ok", key.name, f"belongs to {certificate.name}")


def _issued(certificate: x509.Certificate, authority: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(authority)
    except (ValueError, TypeError, InvalidSignature):  # another issuer name, another kind of key, another key
        return False
    return True


def _name(certificate: x509.Certificate) -> str:
    return certificate.subject.rfc4514_string()
