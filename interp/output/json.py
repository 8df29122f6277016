"""JSON for machines, indented for people who look at it."""

from __future__ import annotations

from typing import Any

import click
import msgspec


def print_json(value: Any) -> None:
    click.echo(to_json(value))


def to_json(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
