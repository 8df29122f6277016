"""A folder of certificates as `interp certs` keeps it: ca.crt (every trusted authority), ca.key, tls.crt, tls.key.

Certificates for clients lie in its subfolder, see `certs.clients`.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from certs.authority import SERVER_DAYS, Credential, cross_sign, issue, make_authority, names_of
from interpreters.core.errors import InputError

CA, CA_KEY, SERVER, SERVER_KEY = "ca.crt", "ca.key", "tls.crt", "tls.key"


@dataclass(frozen=True, slots=True)
class Folder:
    """`trusted` is what clients get as their bundle: the authority in use first, then the ones being retired."""

    authority: Credential
    trusted: tuple[x509.Certificate, ...]
    server: Credential


def make_folder(path: Path, names: list[str], *, days: int = SERVER_DAYS, force: bool = False) -> Folder:
    """A new authority and a server certificate. Refuses to overwrite keys that are in use, unless forced."""
    present = [name for name in (CA_KEY, SERVER_KEY) if (path / name).exists()]
    if present and not force:
        raise InputError(
            f"{path}: holds {' and '.join(present)} already; `interp certs rotate --dir {path}` makes a new server"
            " certificate without breaking clients, --force throws everything away"
        )
    authority = make_authority()
    folder = Folder(authority, (authority.certificate,), issue(authority, names, days))
    write_folder(path, folder)
    return folder


def renew_server(folder: Folder, names: list[str] | None = None, *, days: int = SERVER_DAYS) -> Folder:
    """A new server certificate from the same authority, for the same names unless others are given."""
    names = names or names_of(folder.server.certificate)
    chain = folder.server.chain
    return replace(folder, server=replace(issue(folder.authority, names, days), chain=chain))


def renew_authority(folder: Folder, names: list[str] | None = None, *, days: int = SERVER_DAYS) -> Folder:
    """A new authority that the old one vouches for.

    The server sends the cross-signed authority along, so clients that still hold the old bundle and clients that
    already hold the new one both accept it: there is no moment at which the two sides must change together.
    """
    authority = make_authority()
    server = issue(authority, names or names_of(folder.server.certificate), days)
    chain = (cross_sign(authority, folder.authority), *folder.server.chain)
    return Folder(authority, (authority.certificate, *folder.trusted), replace(server, chain=chain))


def retire_authorities(folder: Folder) -> Folder:
    """Trust only the authority in use; to be called when every client has the new bundle."""
    return replace(folder, trusted=(folder.authority.certificate,), server=replace(folder.server, chain=()))


def write_folder(path: Path, folder: Folder) -> None:
    """Replace the four files."""
    path.mkdir(parents=True, exist_ok=True)
    # Bundle first, key before certificate: a reader in between never sees a certificate nobody trusts yet.
    _write(path / CA, _pem(*folder.trusted), 0o644)
    _write(path / CA_KEY, _key_pem(folder.authority.key), 0o600)
    write_credential(folder.server, path / SERVER, path / SERVER_KEY)


def write_credential(credential: Credential, certificate: Path, key: Path) -> None:
    """Replace a certificate, with its chain, and its key; only the owner may read the key."""
    _write(key, _key_pem(credential.key), 0o600)
    _write(certificate, _pem(credential.certificate, *credential.chain), 0o644)


def read_folder(path: Path, names: list[str] | None = None) -> Folder:
    """What the folder holds. Raises `InputError`.

    A damaged server certificate is no dead end as long as its authority is whole: one for `names`, or for the names
    of the old one if only its key is lost, takes its place.
    """
    trusted = read_certificates(path / CA)
    authority = Credential(trusted[0], read_key(path / CA_KEY))
    if authority.certificate.public_key() != authority.key.public_key():
        raise InputError(
            f"{path / CA_KEY}: does not belong to the first certificate of {path / CA}; restore either one"
        )
    return Folder(authority, tuple(trusted), _read_server(path, authority, names))


def _read_server(path: Path, authority: Credential, names: list[str] | None) -> Credential:
    try:
        certificate, *chain = read_certificates(path / SERVER)
    except InputError as error:
        if names:
            return issue(authority, names)
        raise InputError(
            f"{error}; say what it was for, with --url, --service or --name, and `interp certs rotate --dir {path}`"
            " makes a new one"
        ) from None
    try:
        key = read_key(path / SERVER_KEY)
    except InputError:
        return replace(issue(authority, names_of(certificate)), chain=tuple(chain))
    return Credential(certificate, key, tuple(chain))


def read_certificates(path: Path) -> list[x509.Certificate]:
    """The certificates of a PEM file, at least one. Raises `InputError`."""
    return parse_certificates(_read(path), str(path))


def parse_certificates(content: bytes, where: str) -> list[x509.Certificate]:
    """The same of a file's content."""
    try:
        return x509.load_pem_x509_certificates(content)
    except ValueError:
        begun = content.count(b"-----BEGIN CERTIFICATE-----")
        got = f"{begun} that cannot be read" if begun else "none"
        raise InputError(f"{where}: expected PEM certificates, got {got}") from None


def read_private_key(path: Path) -> PrivateKeyTypes:
    """Any private key. Raises `InputError`."""
    content = _read(path)
    try:
        return load_pem_private_key(content, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        got = "an encrypted one" if b"ENCRYPTED" in content else "a file that cannot be read as one"
        raise InputError(f"{path}: expected an unencrypted PEM private key, got {got}") from None


def read_key(path: Path) -> ec.EllipticCurvePrivateKey:
    """A private key that this module wrote. Raises `InputError`."""
    key = read_private_key(path)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise InputError(f"{path}: expected an elliptic curve key as `interp certs make` writes it")
    return key


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None


def _pem(*certificates: x509.Certificate) -> bytes:
    return b"".join(certificate.public_bytes(Encoding.PEM) for certificate in certificates)


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _write(path: Path, content: bytes, mode: int) -> None:
    """Replace the file in one step, never readable by others while it is being written."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(file.fileno(), mode)
            file.write(content)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
