"""Printing results: JSON and YAML for machines, colour and diffs for people."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click
import msgspec

from interpreters.core.documents import dump_documents

F = TypeVar("F", bound=Callable[..., Any])


def format_option(*formats: str) -> Callable[[F], F]:
    """`-o`, with the first format as default."""
    return click.option(
        "-o", "--output", type=click.Choice(formats), default=formats[0], show_default=True, help="Output format."
    )


def counted(number: int, singular: str, plural: str = "") -> str:
    """`1 script`, `2 scripts`."""
    return f"{number} {singular if number == 1 else plural or singular + 's'}"


def github_annotation(message: str, *, level: str = "error", **properties: object) -> str:
    """A line that GitHub shows beside the file: its workflow commands want some characters spelled otherwise."""
    places = ",".join(f"{key}={_escaped(str(value), ':,')}" for key, value in properties.items())
    return f"::{level} {places}::{_escaped(message)}"


def _escaped(text: str, more: str = "") -> str:
    for character in "%\r\n" + more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def print_json(value: Any) -> None:
    click.echo(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def print_yaml(*documents: Any) -> None:
    click.echo(to_yaml(*documents), nl=False)


def to_yaml(*documents: Any) -> str:
    """YAML in the order given, block style, several documents apart."""
    return dump_documents(msgspec.json.decode(msgspec.json.encode(document)) for document in documents)


def diff_lines(before: Any, after: Any) -> list[str]:
    """A unified diff of two objects as YAML, coloured."""
    import difflib

    colours = {"+": "green", "-": "red", "@": "cyan"}
    lines = difflib.unified_diff(to_yaml(before).splitlines(), to_yaml(after).splitlines(), lineterm="", n=2)
    return [click.style(line, fg=colours.get(line[:1])) for line in list(lines)[2:]]
