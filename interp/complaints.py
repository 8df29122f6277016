"""Showing a script's error to its author: the place, the lines around it, the way there, and what was printed."""

from __future__ import annotations

from collections.abc import Iterator

import click

from interpreters.core.engine import Script
from interpreters.core.errors import InterpError, ScriptError

_CONTEXT = 2


def complaint(error: InterpError, script: Script | None = None) -> str:
    """The message, and for a script's error the lines of the script that it speaks of."""
    lines = [f"{click.style('error:', fg='red', bold=True)} {error}"]
    if isinstance(error, ScriptError):
        if script is not None and error.line is not None:
            lines += _excerpt(script.text, error.line)
        lines += [f"  called from {frame.function}, line {frame.line}" for frame in error.frames[1:]]
        if error.printed:
            lines += printed_lines(error.printed)
    return "\n".join(lines)


def printed_lines(printed: str) -> list[str]:
    return [f"{click.style('print:', fg='yellow')} {line}" for line in printed.splitlines()]


def _excerpt(text: str, line: int) -> Iterator[str]:
    lines = text.splitlines()
    for number in range(max(1, line - _CONTEXT), min(len(lines), line + _CONTEXT) + 1):
        mark = ">" if number == line else " "
        shown = f"{mark} {number:4} | {lines[number - 1]}"
        yield click.style(shown, bold=True) if number == line else click.style(shown, dim=True)
