"""From the text that Starlark prints for a value to JSON.

The binding's own conversion of results loses a reference per list element (memory that never comes back), cuts strings
at NUL and costs twice as much as printing the value. Printed Starlark is nearly JSON: most replies are valid as they
are and only checked. What differs (`None`, `True`, tuples, `\\x00`) is rewritten here, and what JSON cannot say (sets,
functions, cycles, keys that are not text) is refused with the path to it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import Raw

from interpreters.core.engine import Limits
from interpreters.core.errors import LimitError, ReplyError

_STRING: Final = r'"(?:[^"\\]+|\\.)*"'
_TOKEN: Final = re.compile(
    rf"""
    \s*(?:
      (?P<text>{_STRING}) (?P<view>\.\w+\(\))?
    | (?P<open>[\[{{(])
    | (?P<close>[\]}})])
    | (?P<mark>[,:])
    | (?P<number>[-+]?(?:\d[\d.e+-]*|inf|nan))
    | (?P<word>None|True|False)
    | (?P<other>\.\.\.|<[^>]*>|[a-z]+\(|b{_STRING}|.)
    )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE: Final = re.compile(r"\\(?:x(?P<byte>..)|U(?P<point>.{8})|.)", re.DOTALL)
_NOT_BRACKETS: Final = re.compile(rf"{_STRING}|[^\[\]{{}}()]+")
_PLAIN_KEY: Final = re.compile(r'"[A-Za-z_][\w-]*"')
_WORDS: Final = {"None": "null", "True": "true", "False": "false"}
_PLAIN_ESCAPES: Final = {"\\a": "\\u0007", "\\v": "\\u000b"}
_JSON_BRACKETS: Final = {"(": "[", ")": "]"}
_ONE: Final = msgspec.json.Decoder(Raw)
_SEVERAL: Final = msgspec.json.Decoder(list[Raw])
_ASCII_END: Final = 0x80


def values_of(text: str, roots: Sequence[str], limits: Limits) -> tuple[bytes, ...]:
    """The JSON of each returned value: a tuple is several values, anything else is one. `roots` name them in errors."""
    if len(text) > limits.output:
        raise LimitError("output", f"the reply has more than {limits.output} bytes")
    if text.count("[") + text.count("{") + text.count("(") > limits.depth and _depth(text) > limits.depth:
        raise LimitError("depth", f"the reply is nested more than {limits.depth} levels deep")
    is_tuple = text.startswith("(")
    try:
        if is_tuple:
            return tuple(map(bytes, _SEVERAL.decode(f"[{text[1:-1]}]")))
        return (bytes(_ONE.decode(text)),)
    except msgspec.DecodeError:
        pass  # not JSON as it stands
    if is_tuple:
        return tuple(map(bytes, _SEVERAL.decode(to_json(text, roots))))
    return (to_json(text, roots).encode(),)


def to_json(text: str, roots: Sequence[str] = ("",)) -> str:
    """The same value as JSON text. Raises `ReplyError` at the first thing that JSON cannot say."""
    pieces: list[str] = []
    open_containers: list[_Container] = []
    for token in _TOKEN.finditer(text):
        written = token[0].strip()
        inside = open_containers[-1] if open_containers else None
        kind = token.lastgroup
        if written == "...":
            raise ReplyError(_path(open_containers[:-1], roots), "contains itself; a reply must be a tree")
        if inside is not None and inside.expects_key and kind not in ("mark", "close"):
            if kind != "text":
                shown = "a tuple" if kind == "open" else f"{written:.60}"
                raise ReplyError(_path(open_containers[:-1], roots), f"the key {shown} is not a string")
            inside.key, inside.expects_key = written, False
        if kind == "open":
            open_containers.append(_Container(written))
            pieces.append(_JSON_BRACKETS.get(written, written))
        elif kind == "close":
            open_containers.pop()
            if written == ")" and pieces[-1] == ",":
                pieces.pop()
            pieces.append(_JSON_BRACKETS.get(written, written))
        elif kind == "mark":
            if inside is not None and written == ",":
                inside.next()
            pieces.append(written)
        elif kind == "word":
            pieces.append(_WORDS[written])
        elif kind == "text":
            pieces.append(_json_string(written, open_containers, roots))
        elif kind == "number" and written[-1] not in "fn":
            pieces.append(written)
        else:
            raise ReplyError(_path(open_containers, roots), _problem(written))
    return "".join(pieces)


class _Container:
    """Where the rewriting is inside one list, tuple or dict."""

    __slots__ = ("expects_key", "index", "is_dict", "key")

    def __init__(self, bracket: str) -> None:
        self.is_dict = self.expects_key = bracket == "{"
        self.index = 0
        self.key = ""

    @property
    def step(self) -> str:
        """The part of a path that leads from this container to where we are."""
        if not self.is_dict:
            return f"[{self.index}]"
        return f".{self.key[1:-1]}" if _PLAIN_KEY.fullmatch(self.key) else f"[{self.key}]"

    def next(self) -> None:
        self.index += 1
        self.expects_key = self.is_dict


def _path(containers: Sequence[_Container], roots: Sequence[str]) -> str:
    several = bool(containers) and len(roots) > 1
    index = min(containers[0].index, len(roots) - 1) if several else 0
    steps = [container.step for container in containers[several:]]
    return (roots[index] + "".join(steps)).removeprefix(".")


def _json_string(written: str, containers: Sequence[_Container], roots: Sequence[str]) -> str:
    if "\\" not in written:
        return written

    def rewritten(escape: re.Match[str]) -> str:
        if escape["byte"]:
            if int(escape["byte"], 16) >= _ASCII_END:
                raise ReplyError(_path(containers, roots), f"the string {written:.60} is not valid UTF-8")
            return f"\\u00{escape['byte']}"
        if escape["point"]:
            return chr(int(escape["point"], 16))
        return _PLAIN_ESCAPES.get(escape[0], escape[0])

    return _ESCAPE.sub(rewritten, written)


def _problem(written: str) -> str:
    if written[-1] in "fn" and written.lstrip("+-") in ("inf", "nan"):
        return f"{written} is not a number that JSON can say"
    what = {"set(": "a set; use a list, such as sorted(…)", "range(": "a range; use list(range(…))"}.get(written)
    if what is None:
        what = "bytes; use a string" if written.startswith("b") else written.strip("<>")
    return f"expected None, a boolean, number, string, list, tuple or dict, got {what}"


def _depth(text: str) -> int:
    depth = deepest = 0
    for bracket in _NOT_BRACKETS.sub("", text):
        depth += 1 if bracket in "[{(" else -1
        deepest = max(deepest, depth)
    return deepest
