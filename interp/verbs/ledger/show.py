"""`interp ledger show`: what each namespace and workload is charged for, and the newest decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from interp.output.formats import Formats
from interp.output.json import print_json
from interp.output.text import print_text
from interp.verbs.ledger.url import url_argument

if TYPE_CHECKING:
    from estimator.accounting.ledger.report import Statement


def _text(statement: Statement) -> str:
    from estimator.accounting.ledger.report import render_statement

    return render_statement(statement)


FORMATS: Final[Formats[Statement]] = Formats(text=print_text(_text), json=print_json)


@click.command("show")
@url_argument
@click.option("-n", "--namespace", metavar="NS", help="Only this namespace.")
@click.option(
    "--decisions", type=click.IntRange(0), default=10, show_default=True, help="How many of the newest decisions."
)
@FORMATS.option
def show(url: str, namespace: str | None, decisions: int, output: str) -> int:
    """Show what each namespace and workload is charged for, and the newest decisions."""
    import asyncio

    from estimator.accounting.ledger.database import existing_ledger
    from estimator.accounting.ledger.ledger import Ledger
    from estimator.accounting.ledger.report import read_statement

    async def read() -> Statement:
        async with Ledger(existing_ledger(url), create=False) as ledger:
            return await read_statement(ledger, namespace=namespace, decisions=decisions)

    FORMATS.print(output, asyncio.run(read()))
    return 0
