"""A Starlark engine that watches which lines run: every simple statement says so before it does anything.

The binding has no hook, so the text is changed: `x = 1` becomes `print(mark); x = 1` on the same line. Headers such as
`if` and `for` cannot be marked that way and are not counted; the statements below them are.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from interpreters.core.coverage import with_lines
from interpreters.core.engine import MIB, Limits, Outcome, Script
from interpreters.core.errors import ScriptError
from interpreters.starlark.engine import StarlarkEngine

_MARK: Final = re.compile("\x01line (\\d+)\n")
_ROOM: Final = 4 * MIB  # for marks, beside what the script itself prints
_SIMPLE: Final = (ast.Assign, ast.AugAssign, ast.Expr, ast.Return, ast.Pass, ast.Break, ast.Continue)


class CoveringStarlarkEngine(StarlarkEngine):
    """As the plain engine, slower, with the lines that ran behind what was printed."""

    def functions(self, script: Script, limits: Limits) -> frozenset[str]:
        return super().functions(_marked(script), _roomy(limits))

    def call(
        self, script: Script, function: str, arguments: Sequence[bytes], limits: Limits, *, reads_only: bool = False
    ) -> Outcome:
        try:
            outcome = super().call(_marked(script), function, arguments, _roomy(limits), reads_only=reads_only)
        except ScriptError as error:
            error.printed = _told(error.printed)
            raise
        return replace(outcome, printed=_told(outcome.printed))


def code_lines(text: str) -> frozenset[int]:
    """The lines on which a simple statement starts; docstrings are none."""
    return frozenset(line for line, _ in _statements(text))


def _statements(text: str) -> Iterator[tuple[int, int]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, _SIMPLE) and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            yield node.lineno, node.col_offset


def _marked(script: Script) -> Script:
    try:
        places = sorted(_statements(script.text), reverse=True)
    except SyntaxError:  # what only Starlark reads runs unwatched
        return script
    lines = script.text.splitlines(keepends=True)
    for number, column in places:
        raw = lines[number - 1].encode()
        mark = f'print("\\x01line {number}"); '.encode()
        lines[number - 1] = (raw[:column] + mark + raw[column:]).decode()
    return Script(script.name, script.language, "".join(lines))


def _roomy(limits: Limits) -> Limits:
    return replace(limits, printed=limits.printed + _ROOM)


def _told(printed: str) -> str:
    return with_lines(_MARK.sub("", printed), {int(number) for number in _MARK.findall(printed)})
