"""`--feature-gates`: which of Karmada's feature gates are on, where they change what a verb says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from interpreters.core.errors import InputError

F = TypeVar("F", bound=Callable[..., Any])


def gates_option(text: str) -> Callable[[F], F]:
    """The option as the argument `gates`."""
    return click.option("--feature-gates", "gates", default="", metavar="GATE=true|false", help=text)


def read_gates(text: str, known: str) -> frozenset[str]:
    """The gates that are on in a text such as `A=true,B=false`; gates that do not concern us are no mistake.

    >>> sorted(read_gates("A=true, B=false,C=True", "A"))
    ['A', 'C']
    """
    on = set()
    for word in filter(None, (word.strip() for word in text.split(","))):
        name, equals, value = word.partition("=")
        if not equals or value.lower() not in ("true", "false"):
            raise InputError(f'--feature-gates: expected {known}=true or {known}=false, got "{word}"')
        if value.lower() == "true":
            on.add(name)
    return frozenset(on)
