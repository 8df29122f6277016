"""Showing a script's error to its author: the place, the lines around it, the way there, and what was printed."""

from __future__ import annotations

from collections.abc import Iterator

import click

from interpreters.core.engine import Script
from interpreters.core.errors import InterpError, ScriptError
from interpreters.snippets import positions

_CONTEXT = 2


def error_text(error: InterpError, script: Script | None = None) -> str:
    """The message, and for a script's error the lines of the script that it speaks of."""
    lines = [f"{click.style('error:', fg='red', bold=True)} {error}"]
    if isinstance(error, ScriptError):
        places = _places(script) if script is not None else []
        if script is not None and places and error.line is not None and error.line <= len(places) + 1:
            lines += _excerpt(script.text, error.line, places)
        for frame in error.frames[1:]:
            snippet, line = places[frame.line - 1] if frame.line <= len(places) else (None, frame.line)
            where = f"{snippet}:{line}" if snippet else f"line {line}"
            by = "" if frame.function.startswith("function at line") else f"{frame.function}, "
            lines.append(f"  called from {by}{where}")
        if error.printed:
            lines += printed_lines(error.printed)
    return "\n".join(lines)


def _places(script: Script) -> list[tuple[str | None, int]]:
    """The file and line that each line of a script comes from: bundled ones are put together of several."""
    if script.name.startswith("bundled/"):
        return positions(script.text)
    return [(None, number) for number, _ in enumerate(script.text.splitlines(), 1)]


def printed_lines(printed: str) -> list[str]:
    return [f"{click.style('print:', fg='yellow')} {line}" for line in printed.splitlines()]


def _excerpt(text: str, line: int, places: list[tuple[str | None, int]]) -> Iterator[str]:
    """The line with those around it, numbered as in the file that they come from.

    An error at the end of the script is on a line that is not there any more; then those before it are shown.
    """
    lines = text.splitlines()
    snippet, _ = places[min(line, len(places)) - 1]
    for number in range(max(1, line - _CONTEXT), min(len(lines), line + _CONTEXT) + 1):
        own_snippet, own_number = places[number - 1]
        if own_snippet == snippet and own_number:
            shown = f"{'>' if number == line else ' '} {own_number:4} | {lines[number - 1]}"
            yield click.style(shown, bold=True) if number == line else click.style(shown, dim=True)
