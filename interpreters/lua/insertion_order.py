"""Prepares stores such as `t[key] = value`, so that `pairs` can walk the keys in the order they came.

Karmada's own Lua walks tables in that order, and scripts rely on it when they collect things under names they read.
LuaJIT keeps no order, so `t[key] = value` is compiled as `t[R(t, key)] = value`, R being a hidden function that notes
the key and returns it. Only stores whose table has a plain name (`a.b[i].c`) are prepared: it is named twice, so it
must be cheap and without effects.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

# A name no script can contain: scripts are UTF-8, a lone continuation byte is not.
HIDDEN: Final = b"\x81"

_TOKEN: Final = re.compile(
    rb"""
    (?P<comment>--\[(?P<level>=*)\[.*?(?:\](?P=level)\]|\Z) | --[^\n]*)
  | (?P<text>\[(?P<equals>=*)\[.*?(?:\](?P=equals)\]|\Z) | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*')
  | (?P<number>(?:[0-9]|\.[0-9])(?:[eEpP][+-]|[0-9A-Za-z_.\x80-\xff])*)
  | (?P<name>[A-Za-z_\x80-\xff][0-9A-Za-z_\x80-\xff]*)
  | (?P<mark>\.\.\.?|[=~<>]=|[^\s])
    """,
    re.VERBOSE | re.DOTALL,
)
_KEYWORDS: Final = frozenset(
    b"and break do else elseif end false for function goto if in local nil not or repeat return then true until"
    b" while".split()
)

_MAKING_TEXTS: Final = frozenset((b"..", b"and", b"or"))  # operators that may answer a text beside a number


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: bytes
    start: int
    end: int


def noting_keys(source: bytes) -> bytes:
    """The source with every store under a computed key noted; lines keep their numbers."""
    if b"pairs" not in source and b"next" not in source:
        return source  # nobody asks for an order
    tokens = _tokens(source)
    opening = _opening_brackets(tokens)
    parts: list[bytes] = []
    done = 0
    for i, close in opening.items():
        if tokens[i].start < done or close + 1 >= len(tokens) or tokens[close + 1].text != b"=":
            continue
        table = _table_before(tokens, i, opening, source)
        key = tokens[i + 1 : close]
        if table is None or not key or _is_number(key) or any(token.text == b"function" for token in key):
            continue
        parts += (
            source[done : tokens[i].end],
            HIDDEN,
            b"(",
            table,
            b",",
            source[tokens[i].end : tokens[close].start],
            b")",
        )
        done = tokens[close].start
    parts.append(source[done:])
    return b"".join(parts)


def _is_number(key: list[_Token]) -> bool:
    """Whether a key can only be a number, as in `t[1]` and `t[#t + 1]`: numbers need no note."""
    if key[0].text == b"#":  # a length and what is done to it
        return not any(token.text in _MAKING_TEXTS for token in key)
    return key[0].kind == "number"


def _tokens(source: bytes) -> list[_Token]:
    kinds = ("text", "number", "name", "mark")
    return [
        _Token(next(kind for kind in kinds if found[kind] is not None), found[0], found.start(), found.end())
        for found in _TOKEN.finditer(source)
        if found["comment"] is None
    ]


def _opening_brackets(tokens: list[_Token]) -> dict[int, int]:
    """Each `[` and the `]` that closes it, in the order of the text."""
    waiting: list[int] = []
    pairs: dict[int, int] = {}
    for i, token in enumerate(tokens):
        if token.kind == "mark" and token.text == b"[":
            waiting.append(i)
        elif token.kind == "mark" and token.text == b"]" and waiting:
            pairs[waiting.pop()] = i
    return dict(sorted(pairs.items()))


def _table_before(tokens: list[_Token], bracket: int, opening: dict[int, int], source: bytes) -> bytes | None:
    """The text of the table that is indexed at this bracket, if it is plain names and indices on one line."""
    closing = {close: start for start, close in opening.items()}
    i = bracket - 1
    while i >= 0:
        token = tokens[i]
        if token.text == b"]" and i in closing:
            i = closing[i] - 1
        elif token.kind != "name" or token.text in _KEYWORDS:
            return None
        elif i and tokens[i - 1].text == b".":
            i -= 2
        else:
            table = source[token.start : tokens[bracket].start]
            return None if b"\n" in table or b"(" in table or b"--" in table else table
    return None
