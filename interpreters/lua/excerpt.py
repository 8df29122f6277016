"""The part of a Lua script that one function needs, for rules that carry a single operation each.

A ResourceInterpreterCustomization repeats the script in every rule; cutting each copy down to what its function reaches
keeps the document small. The cut follows the layout of the bundled scripts: every statement of the main chunk begins at
the left margin, and what belongs to it is indented or closes at the margin. Text laid out otherwise stays whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from interpreters.lua.lint import tokens
from interpreters.snippets import is_mark

_START: Final = re.compile(r"(?:local )?function (?P<function>\w+)\(|local (?P<names>\w+(?:, \w+)*)(?: =|$)")
_REQUIRE: Final = re.compile(r"local \w+ = require\(\"\w+\"\)\n")
_CLOSING: Final = re.compile(r"(?:end|\}|\)|\]\]).{0,2}$")


@dataclass(frozen=True, slots=True)
class Block:
    """One statement of the main chunk with the comment above it: what it defines, and every name in it."""

    text: str
    defines: frozenset[str]
    mentions: frozenset[str]


def excerpt(text: str, function: str) -> str:
    """The statements that `function` reaches, in their order; the whole text if its layout cannot be followed."""
    blocks = list(_blocks(text)) if _is_regular(text) else []
    needed, waiting = set[int](), {function}
    known = set[str]()
    while waiting:
        name = waiting.pop()
        known.add(name)
        for number, block in enumerate(blocks):
            if name in block.defines and number not in needed:
                needed.add(number)
                waiting |= block.mentions - known
    if not any(function in blocks[number].defines for number in needed):
        return text
    return "\n".join(_each_module_once(blocks[number] for number in sorted(needed)))


def _each_module_once(blocks: Iterable[Block]) -> Iterator[str]:
    """The texts, without a `require` that says again what its name stands for already: every snippet has its own."""
    latest: dict[str, str] = {}
    for block in blocks:
        is_said = all(latest.get(name) == block.text for name in block.defines)
        if not (is_said and _REQUIRE.fullmatch(block.text)):
            yield block.text
        latest |= dict.fromkeys(block.defines, block.text)


def _is_regular(text: str) -> bool:
    return all(
        not line or line.startswith((" ", "--")) or _START.match(line) or _CLOSING.match(line)
        for line in text.splitlines()
    )


def _blocks(text: str) -> Iterator[Block]:
    comment: list[str] = []
    body: list[str] = []
    for line in (*text.splitlines(), ""):
        if body and (not line or _START.match(line) or line.startswith("--")) and _is_complete(body):
            yield _block([*comment, *body])
            comment, body = [], []
        if not body and (not line or is_mark(line)):
            comment = []  # a comment that stands by itself, or with such a mark, explains the file, not a statement
        elif line.startswith("--") and not body:
            comment.append(line)
        elif line or body:
            body.append(line)


def _is_complete(body: list[str]) -> bool:
    if "function " in body[0]:
        return body[-1] == "end" or (len(body) == 1 and body[0].endswith(" end"))
    depth = {mark: sum(token.text == mark for token in tokens("\n".join(body))) for mark in "{}()"}
    return depth["{"] == depth["}"] and depth["("] == depth[")"]


def _block(lines: list[str]) -> Block:
    text = "\n".join(lines) + "\n"
    start = next(match for line in lines if (match := _START.match(line)))
    defines = frozenset([start["function"]] if start["function"] else start["names"].split(", "))
    found = tokens(text)
    before = ["", *(token.text for token in found)]
    mentions = frozenset(
        token.text
        for previous, token in zip(before, found, strict=False)
        if token.kind == "name" and previous not in (".", ":")
    )
    return Block(text, defines, mentions)
