"""Certificate authorities and the certificates they issue to servers and clients, in memory: no file is touched."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from interpreters.core.errors import InputError

CA_DAYS = 3650
SERVER_DAYS = 397  # browsers and some proxies refuse server certificates that live longer
LONGEST_COMMON_NAME = 64  # of X.509
_LONGEST_NAME = 253  # of DNS
_LABEL = "[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
_HOST_NAME = re.compile(rf"(\*\.)?{_LABEL}(\.{_LABEL})*")
CLOCK_SKEW = timedelta(minutes=5)  # a client whose clock is a little behind must not see a certificate of the future


@dataclass(frozen=True, slots=True)
class Credential:
    """A certificate with its private key; `chain` holds what a client may need between it and a trusted authority."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey
    chain: tuple[x509.Certificate, ...] = ()


def url_names(url: str) -> list[str]:
    """The name a client of this URL checks. Raises `InputError` unless it is https with a host."""
    parts = urlsplit(url)
    if parts.scheme != "https" or not parts.hostname:
        raise InputError(f'"{url}" is not an https URL with a host, such as https://interp.example.org:8443/interpret')
    return [parts.hostname]


def service_names(service: str) -> list[str]:
    """All names a Service `namespace/name[:port]` is reached by. Karmada asks for `<name>.<namespace>.svc`."""
    namespace, slash, rest = service.partition("/")
    name = rest.partition(":")[0]
    if not (slash and namespace and name):
        raise InputError(f'"{service}" is not a Service; write namespace/name or namespace/name:port')
    return [f"{name}.{namespace}.svc", f"{name}.{namespace}.svc.cluster.local", f"{name}.{namespace}", name]


def make_authority(common_name: str = "interp CA", days: int = CA_DAYS) -> Credential:
    key = ec.generate_private_key(ec.SECP256R1())
    # The serial part of the name tells the authorities of a rotation apart, for people and for chain building.
    subject = _subject(f"{common_name} {x509.random_serial_number():x}"[: len(common_name) + 9])
    certificate = _authority_builder(subject, key.public_key(), days).issuer_name(subject).sign(key, hashes.SHA256())
    return Credential(certificate, key)


def cross_sign(new: Credential, old: Credential) -> x509.Certificate:
    """The new authority as the old one vouches for it: who trusts only the old one accepts what the new one issues."""
    days = (old.certificate.not_valid_after_utc - datetime.now(UTC)).days
    if days < 1:
        raise InputError("the old authority has expired: nobody trusts it any more; make a new one with --force")
    builder = _authority_builder(new.certificate.subject, new.key.public_key(), days)
    builder = builder.add_extension(_issued_by(old), critical=False)  # strict clients look for it
    return builder.issuer_name(old.certificate.subject).sign(old.key, hashes.SHA256())


def issue(authority: Credential, names: Iterable[str], days: int = SERVER_DAYS, *, client: bool = False) -> Credential:
    """A server certificate for these host names and addresses; with `client`, one that proves a client of that name."""
    alternatives = [_alternative(name) for name in dict.fromkeys(names)]
    if not alternatives:
        raise InputError("a certificate needs at least one name; give --url, --service or --name")
    key = ec.generate_private_key(ec.SECP256R1())
    now = datetime.now(UTC)
    usage = ExtendedKeyUsageOID.CLIENT_AUTH if client else ExtendedKeyUsageOID.SERVER_AUTH
    certificate = (
        x509.CertificateBuilder()
        .subject_name(_subject(str(alternatives[0].value)[:LONGEST_COMMON_NAME]))
        .issuer_name(authority.certificate.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - CLOCK_SKEW)
        .not_valid_after(min(now + timedelta(days=days), authority.certificate.not_valid_after_utc))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_key_usage(certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        .add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(_issued_by(authority), critical=False)
        .sign(authority.key, hashes.SHA256())
    )
    return Credential(certificate, key, authority.chain)


def names_of(certificate: x509.Certificate) -> list[str]:
    """Every host name and address the certificate is good for."""
    try:
        alternatives = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return []
    return [str(name.value) for name in alternatives if isinstance(name, x509.DNSName | x509.IPAddress)]


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        pass
    if not name.isascii():
        raise InputError(f'"{name}" is not a host name: it must be ASCII (write the xn-- form)')
    if len(name) > _LONGEST_NAME or not _HOST_NAME.fullmatch(name):
        raise InputError(f'"{name}" is neither a host name, such as webhook.example.org, nor an address')
    return x509.DNSName(name)


def _subject(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _authority_builder(subject: x509.Name, key: ec.EllipticCurvePublicKey, days: int) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - CLOCK_SKEW)
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(_key_usage(certificates=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _issued_by(authority: Credential) -> x509.AuthorityKeyIdentifier:
    return x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.key.public_key())


def _key_usage(*, certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not certificates,
        key_cert_sign=certificates,
        crl_sign=certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
