"""One JSON object per line on standard error: a formatter for Python's logging, and a lean line per request.

Texts that come from callers are cut, and no line is waited for: see `log_writer`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from interpreters.core.texts import one_line
from webhook.server.log_writer import LogWriter

LOGGER = logging.getLogger("interp")
_ENCODE = msgspec.json.Encoder(enc_hook=str).encode
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


_LONGEST: Final = 1024
_LONGEST_OF: Final = {"message": 4096, "object": 16 * 1024, "printed": 4096, "exception": 16 * 1024}


def cut(text: str, most: int = _LONGEST) -> str:
    """The beginning of a long text, and how long it is."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text)} characters)"


def _line(level: str, message: str, stamp: float, fields: Mapping[str, Any]) -> bytes:
    line: dict[str, Any] = {"time": _stamp(stamp), "level": level, "message": message, **fields}
    for name, value in line.items():
        if isinstance(value, str) and len(value) > _LONGEST:
            line[name] = cut(value, _LONGEST_OF.get(name, _LONGEST))
    return _ENCODE(line)


WRITER: Final = LogWriter(
    lambda count: (
        _line("warning", "log lines were dropped, since nobody read them", time.time(), {"count": count}) + b"\n"
    )
)
"""The one that writes to standard error, for everything that this process logs."""


class WriterHandler(logging.Handler):
    """Python's log records, handed to the writer."""

    def emit(self, record: logging.LogRecord) -> None:
        WRITER.write(self.format(record).encode(errors="backslashreplace") + b"\n")


class JsonFormatter(logging.Formatter):
    """Time, level and message, then whatever the call gave as `extra`."""

    def format(self, record: logging.LogRecord) -> str:
        fields = {name: value for name, value in vars(record).items() if name not in _STANDARD}
        if record.exc_info:
            fields["exception"] = self.formatException(record.exc_info)
        return _line(record.levelname.lower(), record.getMessage(), record.created, fields).decode()


class TextFormatter(logging.Formatter):
    """A line for people, in which no caller can put a line break or a terminal's commands."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname).1s %(name)s: %(message)s", "%Y-%m-%dT%H:%M:%S")

    def format(self, record: logging.LogRecord) -> str:
        record.msg, record.args = one_line(cut(record.getMessage(), _LONGEST_OF["message"])), None
        return super().format(record)


def configure(level: str) -> None:
    """Send everything of this process, libraries included, through the formatter."""
    handler = WriterHandler()
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
            WRITER.write(lines)

    def _add(self, level: str, message: str, stamp: float, fields: dict[str, Any]) -> None:
        self._lines.append(_line(level, message, stamp, fields))


def _stamp(seconds: float) -> str:
    whole = int(seconds)
    if whole != _last_second[0]:
        _last_second[:] = [whole, time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole))]
    return f"{_last_second[1]}.{int((seconds - whole) * 1000):03d}Z"


_last_second: list[Any] = [0, "1970-01-01T00:00:00"]  # formatting a date costs more than the rest of the line
