"""Plain text: for people, and for every format that is put together from lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import click

Result = TypeVar("Result")


def print_lines(render: Callable[[Result], Iterable[str]]) -> Callable[[Result], None]:
    """A format whose text comes line by line, without line ends."""

    def write(result: Result) -> None:
        for line in render(result):
            click.echo(line)

    return write


def print_text(render: Callable[[Result], str]) -> Callable[[Result], None]:
    """A format whose text comes at once, with its line ends."""
    return lambda result: click.echo(render(result), nl=False)


def counted(number: int, singular: str, plural: str = "") -> str:
    """`1 script`, `2 scripts`."""
    return f"{number} {singular if number == 1 else plural or singular + 's'}"
