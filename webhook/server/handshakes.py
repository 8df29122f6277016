"""TLS handshakes that fail: counted, and told in the log rarely enough that nobody can fill it by connecting."""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from webhook.server.logs import LOGGER

QUIET_SECONDS: Final = 60.0  # between two lines about the same listener and reason

MESSAGES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "missing": "a caller showed no certificate, which clientCa demands; `interp certs client` makes one",
        "refused": "a caller's certificate is not one that clientCa accepts; `interp certs client` makes one that is",
        "distrusted": "a caller does not trust the server's certificate; has it been given the right ca.crt?",
        "protocol": "a caller does not speak TLS 1.2 or newer",
    }
)
"""What each reason means. The reasons are the metric's labels, so they must stay few, whatever callers do."""


@dataclass(slots=True)
class Refusals:
    """Hears of each failed handshake. `count` gets the listener and the reason."""

    count: Callable[[str, str], None]
    clock: Callable[[], float] = time.monotonic
    _quiet: dict[tuple[str, str], tuple[float, int]] = field(default_factory=dict)  # until when; untold since

    def note(self, listener: str, error: ssl.SSLError) -> None:
        reason = reason_of(error)
        self.count(listener, reason)
        now = self.clock()
        until, untold = self._quiet.get((listener, reason), (now, 0))
        if now < until:
            self._quiet[listener, reason] = until, untold + 1
            return
        self._quiet[listener, reason] = now + QUIET_SECONDS, 0
        about = {"listener": listener, "reason": reason, "detail": _detail(error), "untoldBefore": untold}
        LOGGER.warning(f"a TLS handshake failed: {MESSAGES[reason]}", extra=about)


def reason_of(error: ssl.SSLError) -> str:
    """Which of the reasons in `MESSAGES` it was."""
    said = getattr(error, "reason", None) or ""
    if said == "PEER_DID_NOT_RETURN_A_CERTIFICATE":
        return "missing"
    if isinstance(error, ssl.SSLCertVerificationError):
        return "refused"
    return "distrusted" if "ALERT" in said and ("CERTIFICATE" in said or "UNKNOWN_CA" in said) else "protocol"


def observed(note: Callable[[ssl.SSLError], None]) -> type[ssl.SSLObject]:
    """A kind of TLS connection that tells of its failed handshake; the event loop drops such errors silently."""

    class Observed(ssl.SSLObject):
        def do_handshake(self) -> None:
            try:
                super().do_handshake()
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError, ssl.SSLEOFError):
                raise  # not finished yet, or a caller that went away
            except ssl.SSLError as error:
                note(error)
                raise

    return Observed


def _detail(error: ssl.SSLError) -> str:
    """OpenSSL's words, of which there is a fixed set: none are the caller's."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return error.verify_message
    return (getattr(error, "reason", None) or "unknown").lower().replace("_", " ")
