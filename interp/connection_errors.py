"""What went wrong with a connection to a server, for the verbs that call one."""

from __future__ import annotations

import ssl
from typing import Final

TIMED_OUT: Final = "timed out"


def connection_problem(error: Exception) -> str:
    """What went wrong with a connection, in the words of whoever noticed."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return error.verify_message
    if isinstance(error, TimeoutError):
        return TIMED_OUT
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
