"""The list as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from interp.output.script_errors import error_text
from interp.output.table import console
from interp.verbs.list.listed import Listed
from interpreters.core.operations import OPERATIONS, Operation

if TYPE_CHECKING:
    from rich.table import Table


def print_table(listed: Listed) -> None:
    out = console(for_pipes=True)
    out.print(_wide_table(listed) if listed.wide else _table(listed))
    if not listed.wide:
        shortened = ", ".join(f"{_short(op)} = {op}" for op in OPERATIONS if _short(op) != op.name)
        out.print(f"[dim]{shortened}; * shadows another[/dim]")
    for broken in listed.catalog.broken:
        click.echo(error_text(broken.error), err=True)


def _titled(*titles: str) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in titles:
        table.add_column(title, overflow="fold")
    return table


def _wide_table(listed: Listed) -> Table:
    table = _titled("kind", "operation", "source", "language", "script", "shadows")
    for kind in listed.kinds:
        for operation, offer, shadowed in listed.offers(kind):
            table.add_row(
                str(kind),
                operation.name,
                str(offer.source.origin),
                offer.script.language,
                offer.script.name,
                ", ".join(shadow.script.name for shadow in shadowed),
            )
        for broken, fails in listed.failing(kind).items():
            for operation in fails:
                table.add_row(str(kind), operation.name, str(broken.source.origin), "broken", broken.name, "")
    return table


def _table(listed: Listed) -> Table:
    table = _titled("kind", "source", "language", "operations")
    for kind in listed.kinds:
        rows: dict[tuple[str, str], list[str]] = {}
        for operation, offer, shadowed in listed.offers(kind):
            mark = "*" if shadowed else ""
            rows.setdefault((str(offer.source.origin), offer.script.language), []).append(_short(operation) + mark)
        for (origin, language), operations in rows.items():
            table.add_row(str(kind), origin, language, " ".join(operations))
        for broken, fails in listed.failing(kind).items():
            table.add_row(str(kind), str(broken.source.origin), "broken", " ".join(map(_short, fails)))
    return table


def _short(operation: Operation) -> str:
    return operation.name.removeprefix("Interpret")
