"""`interp ledger history`: what quotas allowed and used over time, and when they are full at this pace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import click

from interp.options.times import span_option
from interp.output.formats import Formats
from interp.output.json import print_json
from interp.output.text import print_text
from interp.verbs.ledger.url import url_argument

if TYPE_CHECKING:
    from estimator.accounting.history.series import Series
    from estimator.accounting.history.store import Step


def _text(history: Sequence[Series]) -> str:
    from estimator.accounting.history.rendering import render_text

    return render_text(history)


def _csv(history: Sequence[Series]) -> str:
    from estimator.accounting.history.rendering import render_csv

    return "".join(render_csv(history))


def _json(history: Sequence[Series]) -> None:
    from estimator.accounting.history.rendering import history_of

    print_json([history_of(series) for series in history])


FORMATS: Final[Formats[Sequence[Series]]] = Formats(text=print_text(_text), json=_json, csv=print_text(_csv))


@click.command("history")
@url_argument
@click.option("-n", "--namespace", metavar="NS", help="Only this namespace.")
@span_option("--since", "since", default="30d", help="How far to look back.")
@click.option(
    "--step", type=click.Choice(["hour", "day"]), help="By the hour or by the day; by default what shows most."
)
@FORMATS.option
def history(url: str, namespace: str | None, since: int, step: Step | None, output: str) -> int:
    """Show what each quota allowed and was charged for over time, its growth, and when it is full at this pace.

    Running servers take the samples. Exit code 1 when a quota is full, or will be within thirty days.
    """
    import asyncio

    from estimator.accounting.history.store import read_steps
    from estimator.accounting.history.trend import is_soon
    from estimator.accounting.ledger.database import existing_ledger
    from estimator.accounting.ledger.ledger import Ledger

    async def read() -> list[Series]:
        async with Ledger(existing_ledger(url), create=False) as ledger:
            return await read_steps(ledger, since, namespace, step)

    found = asyncio.run(read())
    FORMATS.print(output, found)
    return 1 if any(is_soon(series.points) for series in found) else 0
