"""`-o`: the output formats that a verb offers, and printing its result in the one that was chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])
Result = TypeVar("Result")


class Formats(Generic[Result]):
    """Formats by their names, the first by default. Each is a function that prints the verb's result."""

    def __init__(self, **printers: Callable[[Result], None]) -> None:
        self._printers = printers

    @property
    def names(self) -> list[str]:
        return list(self._printers)

    def option(self, command: F) -> F:
        """`-o` as the argument `output`."""
        return click.option(
            "-o", "--output", type=click.Choice(self.names), default=self.names[0], show_default=True,
            help="Output format.",
        )(command)  # fmt: skip

    def print(self, name: str, result: Result) -> None:
        """Print a result in the format of this name."""
        self._printers[name](result)
