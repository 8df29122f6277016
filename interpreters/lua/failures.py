"""Turns what the prelude reports of a failed call into the error tree, in words for the script's author."""

from __future__ import annotations

import re
from typing import Any, Final

from interpreters.core.engine import Limits, Script
from interpreters.core.errors import Frame, LimitError, ReplyError, ScriptError, ScriptSyntaxError

# What other Luas have and scripts here have not; a nil among these names deserves an explanation.
_UNAVAILABLE: Final = frozenset(
    "io debug package ffi jit coroutine load loadstring loadfile dofile collectgarbage getfenv setfenv newproxy module "
    "getmetatable setmetatable bit utf8 bit32".split()
)
_NIL_GLOBAL: Final = re.compile(r"attempt to (?:index|call) global '(\w+)' \(a nil value\)")
_AT_LINE: Final = re.compile(r"script:(\d+): (.*)", re.DOTALL)


def syntax_failure(script: Script, problem: str) -> ScriptSyntaxError:
    """The compiler's complaint."""
    found = _AT_LINE.fullmatch(problem)
    if found is None:
        return ScriptSyntaxError(problem, script=script.name)
    return ScriptSyntaxError(found[2], script=script.name, line=int(found[1]))


def failure_of(script: Script, function: str, answer: tuple[Any, ...], limits: Limits) -> ScriptError:
    """The error of a call that answered `(False, printed, kind, message, detail, line, function, frames)`."""
    _, printed, kind, message, detail, line, in_function, frames = answer + (None,) * (8 - len(answer))
    where: dict[str, Any] = {
        "script": script.name,
        "line": line,
        "function": _text(in_function) or function or None,
        "frames": _frames(_text(frames)),
        "printed": _text(printed),
    }
    words = _text(message)
    if kind == b"limit":
        return LimitError(words, _limit_words(words, _text(detail), limits), **where)
    if kind == b"input":
        return ScriptError(f"an argument is not JSON: {words} at byte {int(detail)}", **where)
    if kind == b"reply":
        return ReplyError(_text(detail), words, **where)
    if kind == b"missing":
        return ScriptError(_missing(function, words, _text(detail)), **(where | {"function": None}))
    if kind == b"load":
        return ScriptSyntaxError(_explained(words), **where)
    return ScriptError(_explained(words), **where)


def _explained(words: str) -> str:
    found = _NIL_GLOBAL.fullmatch(words)
    return f"{words}: {found[1]} is not available to scripts" if found and found[1] in _UNAVAILABLE else words


def _text(value: bytes | None) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else ""


def _frames(text: str) -> tuple[Frame, ...]:
    parts = (line.partition(" ") for line in text.split("\n") if line)
    return tuple(Frame(name, int(number)) for number, _, name in parts)


def _limit_words(limit: str, stage: str, limits: Limits) -> str:
    if limit == "cost":
        return f"stopped: it costs more than {limits.cost} units (VM instructions, helper calls and bytes copied)"
    if limit == "time":
        return f"did not finish within {limits.seconds:g} s"
    if limit == "memory":
        return f"stopped: it needs more than {limits.memory // (1024 * 1024)} MiB of memory"
    if limit == "stack":
        return "stopped: functions call each other too deeply (stack overflow)"
    if limit == "depth":
        what = "an argument" if stage == "arguments" else "the reply"
        return f"{what} is nested more than {limits.depth} levels deep"
    return f"the reply has more than {limits.output} bytes"


def _missing(function: str, kind: str, names: str) -> str:
    if kind != "nil":
        return f"{function} is a {kind}, not a function"
    defined = [name for name in names.split("\n") if name]
    if not defined:
        return f"the script does not define {function}; it defines no global function at all"
    from difflib import get_close_matches

    close = get_close_matches(function, defined, n=1, cutoff=0.6) or [
        name for name in defined if name.lower() == function.lower()
    ]
    hint = f"; did you mean {close[0]}?" if close else ""
    return f"the script does not define {function}; it defines {', '.join(defined)}{hint}"
