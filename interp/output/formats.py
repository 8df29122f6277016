"""`-o`: the output formats that a verb offers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def format_option(*formats: str) -> Callable[[F], F]:
    """`-o`, with the first format as default."""
    return click.option(
        "-o", "--output", type=click.Choice(formats), default=formats[0], show_default=True, help="Output format."
    )
