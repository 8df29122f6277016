"""A bill as text, CSV, JSON or Parquet."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import click

from interp.output.formats import Formats
from interp.output.json import print_json
from interp.output.text import print_lines

if TYPE_CHECKING:
    from estimator.accounting.chargeback.bill import Bill


def _text(bill: Bill) -> Iterator[str]:
    from estimator.accounting.chargeback.rendering import render_text

    return render_text(bill)


def _csv(bill: Bill) -> None:
    from estimator.accounting.chargeback.rendering import render_csv

    for row in render_csv(bill):
        click.echo(row, nl=False)


def _json(bill: Bill) -> None:
    from estimator.accounting.chargeback.rendering import bill_report

    print_json(bill_report(bill))


def _parquet(bill: Bill) -> None:
    from estimator.accounting.chargeback.parquet import write_parquet

    file = sys.stdout.buffer
    if file.isatty():
        raise click.UsageError(
            "Parquet is not for a terminal: send it to a file, interp cost … -o parquet > cost.parquet"
        )
    write_parquet(bill, file)


FORMATS: Final[Formats[Bill]] = Formats(text=print_lines(_text), csv=_csv, json=_json, parquet=_parquet)
