"""Prepares a script's text for the compiler: `..` gets our number text, and what only LuaJIT reads is refused.

LuaJIT joins numbers with 14 digits and no hook to change that. So every `a .. b` is compiled as `a .. C .. b`, C being
a hidden value whose metamethod does the joining (prelude/concatenation.lua). One token becomes three of the same
precedence and associativity on the same line, so nothing else moves. The text becomes the body of a function around
which C is a local; it must have been found to compile by itself, or it could close that function.
"""

from __future__ import annotations

import re
from typing import Final

from interpreters.lua import insertion_order

# A name no script can contain: scripts are UTF-8, a lone continuation byte is not.
_HIDDEN: Final = b"\x80"
_NAMES: Final = b",".join((_HIDDEN, insertion_order.NOTE_STORE, insertion_order.NOTE_KEY))
_OPENING: Final = b"local " + _NAMES + b"=... return function(...) "
_CLOSING: Final = b"\nend"

_TOKEN: Final = re.compile(
    rb"--\[(?P<comment>=*)\[ | \[(?P<long>=*)\[ | (?:%b)" % insertion_order.COMMENT_OR_STRING
    + rb"""
  | (?P<number>0[xX](?:[pP][+-]|[0-9A-Za-z_.\x80-\xff])*
             | (?:[0-9]|\.[0-9])(?:[eE][+-]|[0-9A-Za-z_.\x80-\xff])*)
  | [A-Za-z_\x80-\xff][0-9A-Za-z_\x80-\xff]*
  | \.\.\. | (?P<concat>\.\.)
    """,
    re.VERBOSE | re.DOTALL,
)
_LINE_END: Final = re.compile(rb"\r\n|\n\r|\n|\r")
_FOREIGN_NUMBER: Final = re.compile(rb"(?:[uU]?[lL]{2}[uU]?|[iI])$")  # 64-bit and imaginary: values no script may hold


class Unreadable(Exception):
    """The text holds something that Lua 5.1 does not read."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(line, problem)
        self.line = line
        self.problem = problem


def source_of(text: str) -> bytes:
    """The bytes of a script. Raises `Unreadable`."""
    source = text.encode(errors="surrogatepass")
    if source.startswith(b"\x1b"):
        raise Unreadable(1, "compiled bytecode is refused; a script is text")
    # A first line such as #!/usr/bin/lua is not part of the program.
    return b"--" + source if source.startswith(b"#") else source


def enclosed(source: bytes) -> bytes:
    """The source as the body of a function, `..` untouched."""
    return _OPENING + source + _CLOSING


def prepared(source: bytes) -> bytes:
    """The source as the body of a function, each `..` through C and stores noted. Raises `Unreadable`."""
    source = insertion_order.noting_keys(source)
    parts: list[bytes] = []
    done = position = 0
    while found := _TOKEN.search(source, position):
        position = found.end()
        kind = found.lastgroup
        if kind in ("comment", "long"):
            end = source.find(b"]" + found[kind] + b"]", position)
            position = len(source) if end < 0 else end + len(found[kind]) + 2
        elif kind == "concat":
            parts += (source[done:position], b" ", _HIDDEN, b" ..")
            done = position
        elif kind == "number" and _FOREIGN_NUMBER.search(found[0]):
            raise Unreadable(_line_at(source, found.start()), f"malformed number near '{found[0].decode()}'")
    parts.append(source[done:])
    return enclosed(b"".join(parts))


def _line_at(source: bytes, position: int) -> int:
    return len(_LINE_END.findall(source, 0, position)) + 1
