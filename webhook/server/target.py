"""The request line's target: its path, and the caller's budget in `?timeout=`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote

_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(h|ms|m|s|us|µs|ns)")


class Target(NamedTuple):
    path: str
    timeout: float | None  # seconds, None when not given
    problem: str = ""


@lru_cache(256)
def parse_target(raw: str) -> Target:
    """Callers repeat themselves, so this is nearly always one lookup."""
    path, _, query = raw.partition("?")
    timeouts = [value for name, value in parse_qsl(query, keep_blank_values=True) if name == "timeout"]
    if not timeouts:
        return Target(unquote(path), None)
    seconds = parse_duration(timeouts[-1])
    if seconds is None or seconds <= 0:
        return Target(unquote(path), None, "the query's timeout must be a positive duration such as 3s or 500ms")
    return Target(unquote(path), seconds)


def parse_duration(text: str) -> float | None:
    """Seconds of a duration as Go writes it (`3s`, `1m30s`), None if it is not one."""
    total, position = 0.0, 0
    while position < len(text):
        part = _PART.match(text, position)
        if part is None:
            return None
        total += float(part[1]) * _UNITS[part[2]]
        position = part.end()
    return total if position else None
