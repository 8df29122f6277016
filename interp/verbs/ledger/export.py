"""`interp ledger export`: charges and decisions, one a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from interp.output.formats import Formats
from interp.output.text import print_text
from interp.verbs.ledger.url import url_argument

if TYPE_CHECKING:
    from estimator.accounting.ledger.report import Line


def _ndjson(line: Line) -> str:
    from estimator.accounting.ledger.report import ndjson_row

    return ndjson_row(line)


def _csv(line: Line) -> str:
    from estimator.accounting.ledger.report import csv_row

    return csv_row(line)


FORMATS: Final[Formats[Line]] = Formats(ndjson=print_text(_ndjson), csv=print_text(_csv))
"""Of one line: there may be more than fit into memory."""


@click.command("export")
@url_argument
@click.option("-n", "--namespace", metavar="NS", help="Only this namespace.")
@click.option("--what", type=click.Choice(["charges", "decisions", "unadmitted"]), default="charges", show_default=True)
@FORMATS.option
def export(url: str, namespace: str | None, what: str, output: str) -> int:
    """Write all charges, all decisions, or what Karmada asked about without its being admitted, one a line."""
    import asyncio

    from estimator.accounting.ledger.database import existing_ledger
    from estimator.accounting.ledger.ledger import Ledger
    from estimator.accounting.ledger.report import csv_header, export_lines

    async def write() -> None:
        async with Ledger(existing_ledger(url), create=False) as ledger:
            if output == "csv":
                click.echo(csv_header(what), nl=False)
            async for line in export_lines(ledger, what, namespace):
                FORMATS.print(output, line)

    asyncio.run(write())
    return 0
