"""One JSON object per line on standard error: a formatter for Python's logging, and a lean line per request."""

from __future__ import annotations

import logging
import sys
import time
from contextlib import suppress
from typing import Any

import msgspec

LOGGER = logging.getLogger("interp")
_ENCODE = msgspec.json.Encoder(enc_hook=str).encode
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class JsonFormatter(logging.Formatter):
    """Time, level and message, then whatever the call gave as `extra`."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": _stamp(record.created),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        line.update((name, value) for name, value in vars(record).items() if name not in _STANDARD)
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return _ENCODE(line).decode()


def configure(level: str) -> None:
    """Send everything of this process, libraries included, through the formatter."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    LOGGER.setLevel(level.upper())
    # What is not HTTP gets its 400; a stack trace for each would let anybody fill the log.
    logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)


class RequestLog:
    """One line per request without the cost of a log record. Good news is collected, bad news is written at once."""

    def __init__(self, level: str) -> None:
        least = logging.getLevelNamesMapping()[level.upper()]
        self._notes = least <= logging.INFO
        self._warnings = least <= logging.WARNING
        self._lines: list[bytes] = []

    def answered(self, stamp: float, uid: str, operation: str, kind: str, seconds: float) -> None:
        """Comes with the next flush."""
        if self._notes:
            self._add("info", "interpreted", stamp,
                      {"uid": uid, "operation": operation, "kind": kind, "seconds": round(seconds, 6)})  # fmt: skip

    def note(self, message: str, **fields: Any) -> None:
        if self._notes:
            self._add("info", message, time.time(), fields)
            self.flush()

    def warn(self, message: str, **fields: Any) -> None:
        if self._warnings:
            self._add("warning", message, time.time(), fields)
            self.flush()

    def flush(self) -> None:
        if self._lines:
            lines, self._lines = b"\n".join(self._lines) + b"\n", []
            with suppress(OSError, ValueError):  # a log that nobody reads any more must not fail a request
                sys.stderr.buffer.write(lines)
                sys.stderr.buffer.flush()

    def _add(self, level: str, message: str, stamp: float, fields: dict[str, Any]) -> None:
        self._lines.append(_ENCODE({"time": _stamp(stamp), "level": level, "message": message, **fields}))


def _stamp(seconds: float) -> str:
    whole = int(seconds)
    if whole != _last_second[0]:
        _last_second[:] = [whole, time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole))]
    return f"{_last_second[1]}.{int((seconds - whole) * 1000):03d}Z"


_last_second: list[Any] = [0, "1970-01-01T00:00:00"]  # formatting a date costs more than the rest of the line
