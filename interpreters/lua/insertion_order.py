"""Prepares stores such as `t[key] = value`, so that `pairs` can walk the keys in the order they came.

Karmada's own Lua walks tables in that order, and scripts rely on it when they collect things under names they read.
LuaJIT keeps no order, so `t[key] = value` is compiled as `t[R(t, key)] = value`, R being a hidden function that notes
the key and returns it. Only stores whose table has a plain name (`a.b[i].c`) are prepared: it is named twice, so it
must be cheap and without effects.

Tables and functions as keys have no order of their own but the one they came in. So where a table has no plain name,
and in constructors and lists of targets, `[key]` is compiled as `[I(key)]`, I noting only that the key was there.
"""

from __future__ import annotations

import re
from typing import Final

# Names no script can contain: scripts are UTF-8, a lone continuation byte is not.
NOTE_STORE: Final = b"\x81"
NOTE_KEY: Final = b"\x82"

_NAME: Final = rb"[A-Za-z_\x80-\xff][0-9A-Za-z_\x80-\xff]*"
# As LuaJIT reads them: a carriage return ends a line, an escaped line end may have two bytes, and `\z` skips blanks.
_STRING: Final = rb"%b(?:\\(?:\r\n|\n\r|z[ \t\n\v\f\r]*|.)|[^%b\\\n\r])*%b"
COMMENT_OR_STRING: Final = b"|".join((rb"--[^\n\r]*", *(_STRING % (quote, quote, quote) for quote in (b'"', b"'"))))
_NO_CODE: Final = re.compile(rb"--\[(=*)\[.*?(?:\]\1\]|\Z)|\[(=*)\[.*?(?:\]\2\]|\Z)|" + COMMENT_OR_STRING, re.DOTALL)
_BRACKET: Final = re.compile(rb"\[|\](\s*(?:=(?!=)|(?P<more>,)))?")
_TABLE: Final = re.compile(
    rb"(?<![0-9A-Za-z_\x80-\xff])" + _NAME + rb"(?:[ \t]*\.[ \t]*" + _NAME + rb"|\[[^\[\]()\n]*\])*[ \t]*\Z"
)
_ONLY_A_NUMBER: Final = re.compile(rb"\s*(?:[0-9]|\.[0-9]|#(?!.*(?:\.\.|\b(?:and|or)\b)))", re.DOTALL)
_PLAIN_TEXT: Final = re.compile(rb"\s*\0+\s*\Z")
_FUNCTION: Final = re.compile(rb"\bfunction\b")
_LONGEST_TABLE: Final = 200  # bytes; looking further back would only cost time


def noting_keys(source: bytes) -> bytes:
    """The source with every store under a computed key noted; lines keep their numbers."""
    if b"pairs" not in source and b"next" not in source:
        return source  # nobody asks for an order
    code = _NO_CODE.sub(lambda found: b"\0" * len(found[0]), source)
    parts: list[bytes] = []
    done = 0
    for opening, closing, is_alone in _stores(code):
        key = code[opening + 1 : closing]
        if opening < done or _ONLY_A_NUMBER.match(key):
            continue
        table = _table_before(code, opening) if is_alone and not _FUNCTION.search(key) else None
        if table is None and _PLAIN_TEXT.match(key):
            continue
        noting = NOTE_KEY + b"(" if table is None else NOTE_STORE + b"(" + table + b","
        parts += (source[done : opening + 1], noting, source[opening + 1 : closing], b")")
        done = closing
    parts.append(source[done:])
    return b"".join(parts)


def _stores(code: bytes) -> list[tuple[int, int, bool]]:
    """Where `[` and `]` stand of each `[key] =` and `[key],`, and whether it is the former, in the order of the text.

    What stands before a comma may be a target or a value; noting a key that is only read does no harm."""
    waiting: list[int] = []
    found = []
    for bracket in _BRACKET.finditer(code):
        if bracket[0] == b"[":
            waiting.append(bracket.start())
        elif waiting:
            opening = waiting.pop()
            if bracket[1]:
                found.append((opening, bracket.start(), bracket["more"] is None))
    return sorted(found)


def _table_before(code: bytes, opening: int) -> bytes | None:
    """The text of the table that is indexed at this bracket, if it is plain names and indices on one line."""
    start = max(code.rfind(b"\n", 0, opening) + 1, opening - _LONGEST_TABLE)
    found = _TABLE.search(code, start, opening)
    if found is None or found.start() == opening - _LONGEST_TABLE:
        return None
    # Behind a call, as in `f().t[key]`, only a part of the table's name was found.
    return None if code[start : found.start()].rstrip().endswith((b".", b":")) else found[0].rstrip()
