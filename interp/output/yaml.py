"""YAML as Kubernetes reads it."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from interpreters.core.documents import dump_documents


def print_yaml(*documents: Any) -> None:
    click.echo(to_yaml(*documents), nl=False)


def to_yaml(*documents: Any) -> str:
    """YAML in the order given, block style, several documents apart."""
    return dump_documents(msgspec.json.decode(msgspec.json.encode(document)) for document in documents)
