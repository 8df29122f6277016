"""`interp ledger history`: what quotas allowed and used over time, and when they are full at this pace."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from interp.options.times import span_option
from interp.output.formats import format_option
from interp.output.json import print_json

if TYPE_CHECKING:
    from estimator.accounting.history.store import Step


@click.command("history")
@click.argument("url", metavar="URL", envvar="INTERP_LEDGER")
@click.option("-n", "--namespace", metavar="NS", help="Only this namespace.")
@span_option("--since", "since", default="30d", help="How far to look back.")
@click.option(
    "--step", type=click.Choice(["hour", "day"]), help="By the hour or by the day; by default what shows most."
)
@format_option("text", "json", "csv")
def command(url: str, namespace: str | None, since: int, step: Step | None, output: str) -> int:
    """Show what each quota allowed and was charged for over time, its growth, and when it is full at this pace.

    Running servers take the samples. Exit code 1 when a quota is full, or will be within thirty days.
    """
    import asyncio

    from estimator.accounting.history.rendering import history_of, render_csv, render_text
    from estimator.accounting.history.series import Series
    from estimator.accounting.history.store import read_steps
    from estimator.accounting.history.trend import is_soon
    from estimator.accounting.ledger.database import existing_ledger
    from estimator.accounting.ledger.ledger import Ledger

    async def read() -> list[Series]:
        async with Ledger(existing_ledger(url), create=False) as ledger:
            return await read_steps(ledger, since, namespace, step)

    history = asyncio.run(read())
    if output == "json":
        print_json([history_of(series) for series in history])
    elif output == "csv":
        click.echo("".join(render_csv(history)), nl=False)
    else:
        click.echo(render_text(history), nl=False)
    return 1 if any(is_soon(series.points) for series in history) else 0
