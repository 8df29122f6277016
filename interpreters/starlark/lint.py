"""What can be said of a Starlark text without running it: the functions it defines, and the unknown names it uses.

Scopes are not guessed: the binding resolves every name of a text before it runs any of it. So the text is given to it
with a last line that can never be resolved; the complaints are collected and nothing is executed. `findings` is run in
a worker all the same, by the engine, as the function LINTING: whoever parses a hostile text may come to harm.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import msgspec

from interpreters.core.findings import Finding
from interpreters.starlark.builtins import NAMES

LANGUAGE: Final = frozenset(
    "None True False abs all any bool bytes chr dict dir enumerate fail float getattr hasattr hash int len list max min"
    " ord print range repr reversed set sorted str tuple type zip".split()
)
DEEPEST: Final = 200
"""Brackets within brackets. The parser has no limit of its own and takes the process down when memory ends."""

LINTING: Final = "<lint>"
_UNDEFINED: Final = re.compile(r"undefined: (\w+)")
_BRACKETS: Final = re.compile(r"[^\[\](){}]+")


@dataclass(frozen=True, slots=True)
class Definition:
    """A global function of a script. Lines and columns count from 1."""

    name: str
    line: int
    column: int
    parameters: tuple[str, ...]


def defined_functions(text: str) -> list[Definition]:
    """The functions that a script offers, in the order of the text; none when it cannot be read."""
    try:
        tree = ast.parse(text)  # every Starlark text that is valid is a valid Python text as well
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found = []
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef):
            column = statement.col_offset + len("def ") + 1
            found.append(Definition(statement.name, statement.lineno, column, _parameters(statement.args)))
        elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Lambda):
            found += [
                Definition(target.id, target.lineno, target.col_offset + 1, _parameters(statement.value.args))
                for target in statement.targets
                if isinstance(target, ast.Name)
            ]
    return found


def findings(text: str, *, portable: bool = False) -> Iterator[Finding]:
    """What keeps the text from being loaded; names count as known if the text, the language or kube defines them.

    Nothing more is said for portability's sake: Karmada runs no Starlark at all.
    """
    import starlark_go

    if _depth(text) > DEEPEST:
        yield Finding(1, 1, "syntax", f"brackets are nested deeper than {DEEPEST} levels")
        return
    starlark_go.configure_starlark(allow_set=True, allow_recursion=False, allow_global_reassign=False)
    never_defined = "__never_defined"
    while never_defined in text:
        never_defined += "_"
    try:
        starlark_go.Starlark(globals=dict.fromkeys(NAMES)).exec(f"{text}\n{never_defined}\n")
    except starlark_go.SyntaxError as error:
        yield Finding(error.line, error.column, "syntax", error.msg)
    except starlark_go.ResolveError as error:
        own = {definition.name for definition in defined_functions(text)}
        for item in error.errors:
            undefined = _UNDEFINED.match(item.msg)
            if undefined is None:
                yield Finding(item.line, item.column, "syntax", item.msg)
            elif undefined[1] != never_defined:
                yield Finding(item.line, item.column, "unknown-global", _unknown(undefined[1], own))
    except ValueError:
        yield Finding(1, 1, "syntax", "the text has a NUL character or a lone surrogate")


def findings_of(text: str, ask: Callable[[str], bytes], portable: bool) -> list[Finding]:
    """The same, found in a worker."""
    return msgspec.json.decode(ask(LINTING), type=list[Finding])


def _unknown(name: str, own: set[str]) -> str:
    similar = difflib.get_close_matches(name, sorted(LANGUAGE | {*NAMES} | own), n=1)
    return f"{name} is defined nowhere" + (f"; did you mean {similar[0]}?" if similar else "")


def _parameters(arguments: ast.arguments) -> tuple[str, ...]:
    return tuple(argument.arg for argument in (*arguments.posonlyargs, *arguments.args))


def _depth(text: str) -> int:
    depth = deepest = 0
    for bracket in _BRACKETS.sub("", text):
        depth += 1 if bracket in "[({" else -1
        deepest = max(deepest, depth)
    return deepest
