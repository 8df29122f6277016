"""The certificates of the gRPC port: read from files, and read again when they are rotated."""

from __future__ import annotations

import ssl
from pathlib import Path

import grpc

from estimator.service.settings import Settings
from interpreters.core.errors import InputError
from interpreters.files import fingerprint


def server_credentials(settings: Settings) -> grpc.ServerCredentials | None:
    """TLS when a certificate is given, mutual TLS when an authority for clients is given too; None is plain text.

    As upstream, `--insecure-skip-grpc-client-verify` turns the check of client certificates off.
    """
    if settings.cert_file is None or settings.key_file is None:
        return None
    certificate, key, authority = settings.cert_file, settings.key_file, settings.client_ca_file
    files = [path for path in (certificate, key, authority) if path is not None]
    seen = fingerprint(files)

    _check(certificate, key, authority)

    def configuration() -> grpc.ServerCertificateConfiguration:
        roots = _read(authority) if authority else None
        return grpc.ssl_server_certificate_configuration([(_read(key), _read(certificate))], roots)

    def rotated() -> grpc.ServerCertificateConfiguration | None:
        """Asked at every handshake; None keeps what is there, also when half of a rotation is written."""
        nonlocal seen
        try:
            now = fingerprint(files)
            if now == seen:
                return None
            _check(certificate, key, authority)
            fresh = configuration()
        except InputError:
            return None
        seen = now
        return fresh

    required = authority is not None and not settings.skip_client_verify
    return grpc.dynamic_ssl_server_credentials(
        configuration(),
        rotated,  # type: ignore[arg-type]  # None is allowed, says the library; its stubs do not
        require_client_authentication=required,
    )


def _check(certificate: Path, key: Path, authority: Path | None) -> None:
    """Raise `InputError` naming the file that holds no certificate or key; gRPC only says that it failed."""
    for path in filter(None, (certificate, key, authority)):
        _read(path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(certificate, key, password="")
    except OSError as error:  # ssl.SSLError is one
        raise InputError(f"{certificate} and {key}: not a certificate and its key: {_reason(error)}") from None
    if authority is not None:
        try:
            context.load_verify_locations(authority)
        except OSError as error:
            raise InputError(f"{authority}: not certificates of an authority: {_reason(error)}") from None


def _reason(error: OSError) -> str:
    return getattr(error, "reason", None) or error.strerror or type(error).__name__


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
