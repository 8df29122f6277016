"""Standard output and error when they are a terminal: colours pass, all other control characters are spelled out.

Names, messages and printed texts come from files, scripts and servers of others. Written as they are, they could move
the cursor, rewrite lines above, or set the window's title. Everything goes through here, so no verb has to think of it.
"""

from __future__ import annotations

import re
import sys
from typing import Any, Final, TextIO

from interpreters.core.texts import printable

_COLOUR: Final = re.compile("(\x1b\\[[0-9;]*m)")
_ERASED_LINE: Final = "\r\x1b[K"
_ERASED_SCREEN: Final = "\x1b[2J\x1b[1;1H"


class _Terminal:
    """A text stream that writes nothing unexpected."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        parts = _COLOUR.split(text)
        parts[::2] = map(printable, parts[::2])
        return self._stream.write("".join(parts))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def unguarded(stream: TextIO) -> TextIO:
    """The stream as it was, for what moves the cursor on purpose and holds no text of others."""
    return stream._stream if isinstance(stream, _Terminal) else stream


def erase_line() -> None:
    """On standard error, if that is a terminal."""
    _erase(sys.stderr, _ERASED_LINE)


def erase_screen() -> None:
    _erase(sys.stdout, _ERASED_SCREEN)


def _erase(stream: TextIO, sequence: str) -> None:
    if stream.isatty():
        unguarded(stream).write(sequence)


def guard() -> None:
    """From now on."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None and stream.isatty():
            setattr(sys, name, _Terminal(stream))
