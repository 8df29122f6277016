"""One JSON object per line on standard error: a formatter for Python's logging, and a lean line per request."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from contextlib import suppress
from typing import Any

import msgspec

LOGGER = logging.getLogger("interp")
_ENCODE = msgspec.json.Encoder(enc_hook=str).encode
_BATCH_SECONDS = 0.05
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
    """One line per request without the cost of a log record. Good news is written in batches, bad news at once."""

    def __init__(self, level: str) -> None:
        least = logging.getLevelNamesMapping()[level.upper()]
        self.successes = least <= logging.INFO
        self.failures = least <= logging.WARNING
        self._batch: list[bytes] = []

    def success(self, uid: str, operation: str, kind: str, seconds: float) -> None:
        if self.successes:
            if not self._batch:
                asyncio.get_running_loop().call_later(_BATCH_SECONDS, self.flush)
            self._add({"time": _stamp(time.time()), "level": "info", "message": "interpreted", "uid": uid,
                       "operation": operation, "kind": kind, "seconds": round(seconds, 6)})  # fmt: skip

    def failure(self, message: str, **fields: Any) -> None:
        if self.failures:
            self._add({"time": _stamp(time.time()), "level": "warning", "message": message, **fields})
            self.flush()

    def flush(self) -> None:
        if self._batch:
            lines, self._batch = b"\n".join(self._batch) + b"\n", []
            with suppress(OSError, ValueError):  # a log that nobody reads any more must not fail a request
                sys.stderr.buffer.write(lines)
                sys.stderr.buffer.flush()

    def _add(self, line: dict[str, Any]) -> None:
        self._batch.append(_ENCODE(line))


def _stamp(seconds: float) -> str:
    whole = int(seconds)
    if whole != _last_second[0]:
        _last_second[:] = [whole, time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole))]
    return f"{_last_second[1]}.{int((seconds - whole) * 1000):03d}Z"


_last_second: list[Any] = [0, "1970-01-01T00:00:00"]  # formatting a date costs more than the rest of the line
