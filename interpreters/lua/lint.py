"""What can be said of a Lua text without running it: which globals it reads and writes, and what Karmada refuses.

Scopes are not guessed: LuaJIT compiles the text and its bytecode says which names are global. Only the column of a name
is looked up in the tokens of its line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from interpreters.core.findings import Finding
from interpreters.lua import bytecode

LIBRARY: Final = frozenset(
    "_G _VERSION assert error ipairs math next os pairs pcall print rawequal rawget rawset require select string table"
    " tonumber tostring type unpack xpcall".split()
)
REFUSED_GLOBALS: Final = frozenset(
    "setmetatable getmetatable rawget rawset rawequal load loadstring loadfile dofile collectgarbage getfenv setfenv"
    " module newproxy coroutine debug io".split()
)
REFUSED_STRING_FUNCTIONS: Final = frozenset(("rep", "gsub", "dump"))

_TOKENS: Final = re.compile(
    r"(?P<comment>--\[(?P<level>=*)\[.*?\](?P=level)\]|--[^\n\r]*)"
    r"|(?P<text>\[(?P<equals>=*)\[.*?\](?P=equals)\]|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')"
    r"|(?P<name>[A-Za-z_]\w*)|(?P<number>0[xX][\da-fA-F]+|\d+\.?\d*(?:[eE][+-]?\d+)?)|(?P<mark>\.\.\.?|[^\s\w])",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Token:
    kind: str
    text: str
    line: int
    column: int


def tokens(text: str) -> list[Token]:
    """Names, numbers, strings and marks with their places; comments left out."""
    found = []
    line, start, last = 1, 0, 0
    for match in _TOKENS.finditer(text):
        newlines = text.count("\n", last, match.start())
        if newlines:
            line += newlines
            start = text.rindex("\n", 0, match.start()) + 1
        last = match.start()
        if match.lastgroup != "comment" and match["comment"] is None:
            kind = next(name for name in ("text", "name", "number", "mark") if match[name] is not None)
            found.append(Token(kind, match[0], line, match.start() - start + 1))
    return found


@dataclass(frozen=True, slots=True)
class GlobalUse:
    name: str
    line: int
    column: int
    is_write: bool


def global_uses(text: str) -> list[GlobalUse]:
    """Every read and write of a global name. The text must compile."""
    by_line: dict[int, list[Token]] = {}
    for token in tokens(text):
        by_line.setdefault(token.line, []).append(token)
    uses = []
    for name, line, is_write in bytecode.global_accesses(text):
        column = next((token.column for token in by_line.get(line, ()) if token.text == name), 1)
        uses.append(GlobalUse(name, line, column, is_write))
    return uses


def findings(text: str, *, portable: bool) -> Iterator[Finding]:
    """Everything this module has to say about a text that compiles."""
    yield from unknown_globals(text)
    yield from accidental_globals(text)
    if portable:
        yield from not_portable(text)


def findings_of(text: str, ask: Callable[[str], bytes], portable: bool) -> list[Finding]:
    """The same, none where the text does not compile. LuaJIT only compiles it, so no worker is asked."""
    return list(findings(text, portable=portable)) if bytecode.compiles(text) else []


def unknown_globals(text: str) -> Iterator[Finding]:
    """Globals that are read but neither defined here nor part of the library: they are nil."""
    uses = global_uses(text)
    defined = {use.name for use in uses if use.is_write} | LIBRARY
    for use in uses:
        if not use.is_write and use.name not in defined:
            why = "is refused, here and in Karmada" if use.name in REFUSED_GLOBALS else "is defined nowhere"
            yield Finding(use.line, use.column, "unknown-global", f"{use.name} {why}, so it is nil here")


def accidental_globals(text: str) -> Iterator[Finding]:
    """Globals assigned inside functions: almost always a forgotten `local`."""
    functions = {token.text for before, token in _pairs(text) if before.text == "function" and token.kind == "name"}
    for use in global_uses(text):
        if use.is_write and use.name not in functions and not use.name[:1].isupper():
            yield Finding(
                use.line, use.column, "global-assignment", f"{use.name} becomes a global; write local {use.name}"
            )


def not_portable(text: str) -> Iterator[Finding]:
    """What works here but is refused by Karmada's own Lua."""
    for use in global_uses(text):
        if not use.is_write and use.name in REFUSED_GLOBALS & LIBRARY:
            yield Finding(use.line, use.column, "not-portable", f"Karmada refuses {use.name}")
    for before, token in _pairs(text):
        if before.text in (".", ":") and token.text in REFUSED_STRING_FUNCTIONS:
            yield Finding(token.line, token.column, "not-portable", f"Karmada refuses string.{token.text}")


def _pairs(text: str) -> Iterator[tuple[Token, Token]]:
    return pairwise(tokens(text))
