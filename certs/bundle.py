"""Bundles that a webhook's callers are given: whether they hold anybody to trust, and which one fits a host."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from cryptography import x509

from certs.authority import names_of
from certs.check import covers
from certs.folder import CA, SERVER, read_certificates
from interpreters.core.errors import InputError


def fitting_bundle(folder: Path, host: str) -> Path:
    """The folder's ca.crt, if its server's certificate is for this host. Raises `InputError` otherwise."""
    wanted = "name the bundle that vouches for the server with --ca"
    if not (folder / CA).exists():
        raise InputError(f"{folder / CA}: is not there; {wanted} (`interp certs make` writes a ca.crt)")
    certificate = read_certificates(folder / SERVER)[0]
    if not covers(certificate, host):
        names = ", ".join(names_of(certificate))
        raise InputError(f"{folder} holds the certificates of a server for {names}, not for {host}; {wanted}")
    return folder / CA


def judge_bundle(path: Path, now: datetime | None = None) -> list[str]:
    """Remarks about a bundle that is to be registered. Raises `InputError` if nobody would be trusted for it."""
    now = now or datetime.now(UTC)
    certificates = read_certificates(path)
    if all(certificate.not_valid_after_utc < now for certificate in certificates):
        last = max(certificate.not_valid_after_utc for certificate in certificates)
        raise InputError(
            f"{path}: expired on {last:%Y-%m-%d}, so that Karmada would refuse every server;"
            " give the ca.crt of `interp certs make` or `rotate --ca`"
        )
    return [f"{path}: {remark}" for certificate in certificates for remark in _remarks(certificate, now)]


def _remarks(certificate: x509.Certificate, now: datetime) -> Iterator[str]:
    name = certificate.subject.rfc4514_string()
    if certificate.not_valid_after_utc < now:
        yield f"{name} expired on {certificate.not_valid_after_utc:%Y-%m-%d} and vouches for nobody"
    elif not _is_authority(certificate):
        yield f"{name} is not an authority: it vouches for itself alone, until the server's certificate is renewed"


def _is_authority(certificate: x509.Certificate) -> bool:
    try:
        return certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    except x509.ExtensionNotFound:
        return False
