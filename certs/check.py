"""What is wrong, or soon will be, with a server's certificate chain, its key and the bundle its clients trust."""

from __future__ import annotations

import ipaddress
import stat
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

from certs.authority import names_of
from certs.folder import CA, CA_KEY, SERVER, SERVER_KEY, read_certificates
from interpreters.core.errors import InputError

WARN_DAYS = 30


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing checked. `level` is ok, warning or error; `fix` says what to do about the last two."""

    level: str
    subject: str
    message: str
    fix: str = ""


def check_folder(path: Path, names: list[str], *, now: datetime | None = None) -> list[Finding]:
    """Judge a folder made by `interp certs make`, or any folder with the same file names (a mounted Secret)."""
    findings = [_check_mode(path / name) for name in (SERVER_KEY, CA_KEY) if (path / name).exists()]
    try:
        chain = read_certificates(path / SERVER)
        trusted = read_certificates(path / CA) if (path / CA).exists() else []
        findings.append(_check_pair(path / SERVER, path / SERVER_KEY))
    except InputError as error:
        return [*findings, Finding("error", "files", str(error), "run `interp certs make`")]
    findings += check_chain(chain, trusted, names, now=now)
    return findings


def check_chain(
    chain: list[x509.Certificate],
    trusted: list[x509.Certificate],
    names: list[str],
    *,
    now: datetime | None = None,
) -> list[Finding]:
    """Judge what a server presents against what its clients trust and the names they call it by."""
    now = now or datetime.now(UTC)
    findings = [_check_dates("server certificate", chain[0], now)]
    findings += [_check_dates(f"authority {index + 1}", authority, now) for index, authority in enumerate(trusted)]
    findings += [_check_name(chain[0], name) for name in names]
    findings.append(_check_trust(chain, trusted))
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


def _check_dates(subject: str, certificate: x509.Certificate, now: datetime) -> Finding:
    end = certificate.not_valid_after_utc
    days = (end - now).days
    if now < certificate.not_valid_before_utc:
        begin = certificate.not_valid_before_utc
        return Finding("error", subject, f"not valid before {begin:%Y-%m-%d %H:%M}Z", "check this machine's clock")
    if now > end:
        return Finding("error", subject, f"expired on {end:%Y-%m-%d}", "run `interp certs rotate`")
    if days < WARN_DAYS:
        return Finding("warning", subject, f"expires on {end:%Y-%m-%d}, in {days} days", "run `interp certs rotate`")
    return Finding("ok", subject, f"valid until {end:%Y-%m-%d}, {days} days")


def _check_name(certificate: x509.Certificate, name: str) -> Finding:
    if covers(certificate, name):
        return Finding("ok", "name", f"{name} is covered")
    known = ", ".join(names_of(certificate)) or "no name at all"
    fix = f"run `interp certs rotate --name {name}` with all names the server has"
    return Finding("error", "name", f"{name} is not covered: the certificate is for {known}", fix)


def _check_trust(chain: list[x509.Certificate], trusted: list[x509.Certificate]) -> Finding:
    """Walk issuer by issuer from the server certificate to something trusted."""
    if not trusted:
        return Finding("warning", "trust", "no ca.crt: cannot tell who would trust this", "give the bundle")
    certificate = chain[0]
    for _ in range(len(chain) + 1):
        for authority in trusted:
            if _issued(certificate, authority):
                return Finding("ok", "trust", f"issued by {_name(authority)}, which clients trust")
        following = next((link for link in chain[1:] if _issued(certificate, link)), None)
        if following is None:
            break
        certificate = following
    message = f"no trusted authority issued {_name(chain[0])}; its issuer is {chain[0].issuer.rfc4514_string()}"
    return Finding("error", "trust", message, "register again with this folder's ca.crt, or `interp certs rotate`")


def _check_mode(path: Path) -> Finding:
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        return Finding("error", path.name, f"others may read it (mode {mode:04o})", f"chmod 600 {path}")
    return Finding("ok", path.name, f"mode {mode:04o}")


def _check_pair(certificate: Path, key: Path) -> Finding:
    try:
        private = load_pem_private_key(key.read_bytes(), password=None)
    except (OSError, ValueError, TypeError) as error:
        return Finding("error", key.name, f"cannot be used: {error}", "run `interp certs rotate`")
    mine = private.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    theirs = read_certificates(certificate)[0].public_key()
    if mine != theirs.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo):
        fix = "one of the two files is of another rotation: run `interp certs rotate`"
        return Finding("error", key.name, f"does not belong to {certificate.name}", fix)
    return Finding("ok", key.name, f"belongs to {certificate.name}")


def _issued(certificate: x509.Certificate, authority: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(authority)
    except (ValueError, TypeError, InvalidSignature):  # another issuer name, another kind of key, another key
        return False
    return True


def _name(certificate: x509.Certificate) -> str:
    return certificate.subject.rfc4514_string()
