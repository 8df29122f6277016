"""TLS for a listener whose certificate, key and client authorities may change while it serves."""

from __future__ import annotations

import logging
import os
import ssl
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from cryptography import x509

from interpreters.core.errors import InputError
from webhook.server.handshakes import observed

SOON: Final = timedelta(days=14)


class ReloadableTls:
    """`context` belongs to the listener for life; every handshake is handed to the newest one loaded.

    Swapping whole contexts, instead of loading into the one in use, lets a failed load change nothing and lets client
    authorities be taken away as well as added.
    """

    def __init__(
        self,
        certificate: str,
        key: str,
        client_ca: str = "",
        *,
        refused: Callable[[ssl.SSLError], None] = lambda _: None,
    ) -> None:
        self._certificate = Path(certificate)
        self._key = Path(key)
        self._client_ca = Path(client_ca) if client_ca else None
        self._current, self._leaf = self._load()
        self.context = self._empty()
        self.context.load_cert_chain(self._certificate, self._key)  # OpenSSL wants one before it asks for the name
        self.context.sni_callback = self._choose
        self.context.sslobject_class = observed(refused)  # may be set on an instance, unlike most

    def reload(self) -> None:
        """Serve what the files hold now. Raises `InputError` and goes on with what was loaded before."""
        self._current, self._leaf = self._load()

    @property
    def expiry(self) -> float:
        """When the served certificate ends, in seconds since 1970."""
        return self._leaf.not_valid_after_utc.timestamp()

    def untimely(self, now: datetime) -> tuple[int, str] | None:
        """Why callers refuse the served certificate, or soon will, and how bad that is as a level of the log."""
        start, end = self._leaf.not_valid_before_utc, self._leaf.not_valid_after_utc
        if end <= now:
            return logging.ERROR, f"{self._certificate} expired on {end:%Y-%m-%d}; callers refuse it: renew it"
        if start > now:
            return logging.ERROR, f"{self._certificate} is not valid before {start:%Y-%m-%d}; callers refuse it"
        if end - now < SOON:
            return logging.WARNING, f"{self._certificate} expires on {end:%Y-%m-%d}: renew it"
        return None

    def _choose(self, connection: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> None:
        connection.context = self._current

    def _empty(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        if self._client_ca:
            context.verify_mode = ssl.CERT_REQUIRED
            context.num_tickets = 0  # a resumed session would outlive the trust it was made under
            context.options |= ssl.OP_NO_TICKET
        return context

    def _load(self) -> tuple[ssl.SSLContext, x509.Certificate]:
        context = self._empty()
        chain, key = _read(self._certificate), _read(self._key)
        for file, content, what in ((self._certificate, chain, b"CERTIFICATE"), (self._key, key, b"PRIVATE KEY")):
            if what + b"-----" not in content:
                raise InputError(
                    f"{file}: expected PEM with a {what.decode()} in it; `interp certs make` makes both files"
                )
        # Both files are read once and then loaded from memory: a rotation in between cannot mix two generations.
        with _memory_file(chain) as chain_path, _memory_file(key) as key_path:
            try:
                context.load_cert_chain(chain_path, key_path, password=_refuse_password)
            except (ssl.SSLError, ValueError) as error:
                reason = getattr(error, "reason", None) or str(error) or "not PEM"
                raise InputError(f"{self._certificate} and {self._key}: cannot be used together: {reason}") from None
        if self._client_ca:
            try:
                context.load_verify_locations(cadata=_read(self._client_ca).decode("ascii", "replace"))
            except (ssl.SSLError, ValueError):
                raise InputError(f"{self._client_ca}: expected PEM certificates") from None
        return context, x509.load_pem_x509_certificate(chain)


class _memory_file:
    """Bytes as a path, for an interface that takes only paths; a private key must not touch a disk for it."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def __enter__(self) -> str:
        self._descriptor = os.memfd_create("pem", os.MFD_CLOEXEC)
        os.write(self._descriptor, self._content)
        return f"/proc/self/fd/{self._descriptor}"

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)


def _refuse_password() -> str:
    raise ValueError("the key is encrypted")  # instead of asking on a terminal that nobody sits at


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
