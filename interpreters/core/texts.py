"""Texts of strangers made fit for a terminal or a line of a log: what would move the cursor is spelled out instead."""

from __future__ import annotations

import re
from typing import Final

_UNSAFE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters; tabs and line breaks are harmless
    "\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]"  # and what turns the direction of writing around
)


def printable(text: str) -> str:
    r"""The same text with control characters written as `\x1b`.

    >>> printable("a name\x1b[2J")
    'a name\\x1b[2J'
    """
    return _UNSAFE.sub(_spelled, text)


def one_line(text: str) -> str:
    """The same for a line of a log: line breaks are spelled out too."""
    return printable(text).replace("\n", "\\n")


def _spelled(found: re.Match[str]) -> str:
    number = ord(found[0])
    return f"\\x{number:02x}" if number <= 0xFF else f"\\u{number:04x}"
