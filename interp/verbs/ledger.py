"""`interp ledger`: what is charged to whom; show it, export it, and reconcile it with the bindings there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final

import click

from interp.output import format_option, print_json

if TYPE_CHECKING:
    from estimator.accounting.demand import Binding
    from estimator.accounting.reconcile import Correction

_BATCH: Final = 2000  # bindings compared in one transaction

url_argument = click.argument("url", metavar="URL", envvar="INTERP_LEDGER")


@click.group("ledger", short_help="what is charged to whom")
def command() -> None:
    """What is charged to whom. URL is an SQLite file or postgresql://user@host/name."""


@command.command("show")
@url_argument
@click.option("-n", "--namespace", metavar="NS", help="Only this namespace.")
@click.option(
    "--decisions", type=click.IntRange(0), default=10, show_default=True, help="How many of the newest decisions."
)
@format_option("text", "json")
def show(url: str, namespace: str | None, decisions: int, output: str) -> int:
    """Show what each namespace and workload is charged for, and the newest decisions."""
    import asyncio

    from estimator.accounting.database import existing_ledger
    from estimator.accounting.ledger import Ledger
    from estimator.accounting.statement import Statement, read_statement, render_statement

    async def read() -> Statement:
        async with Ledger(existing_ledger(url)) as ledger:
            return await read_statement(ledger, namespace=namespace, decisions=decisions)

    statement = asyncio.run(read())
    if output == "json":
        print_json(statement)
    else:
        click.echo(render_statement(statement), nl=False)
    return 0


@command.command("export")
@url_argument
@click.option("-n", "--namespace", metavar="NS", help="Only this namespace.")
@click.option("--what", type=click.Choice(["charges", "decisions", "unadmitted"]), default="charges", show_default=True)
@format_option("ndjson", "csv")
def export(url: str, namespace: str | None, what: str, output: str) -> int:
    """Write all charges, all decisions, or what Karmada asked about without its being admitted, one a line."""
    import asyncio

    from estimator.accounting.database import existing_ledger
    from estimator.accounting.ledger import Ledger
    from estimator.accounting.statement import csv_header, csv_row, export_lines, ndjson_row

    async def write() -> None:
        row = csv_row if output == "csv" else ndjson_row
        async with Ledger(existing_ledger(url)) as ledger:
            if output == "csv":
                click.echo(csv_header(what), nl=False)
            async for line in export_lines(ledger, what, namespace):
                click.echo(row(line), nl=False)

    asyncio.run(write())
    return 0


@command.command("reconcile")
@url_argument
@click.option("--bindings", multiple=True, metavar="F", help="The truth: bindings in files or folders.")
@click.option("--kubeconfig", metavar="F", help="The truth: a live Karmada.")
@click.option("--context", default="", metavar="NAME", help="The context in the kubeconfig.")
@click.option(
    "--complete", is_flag=True, help="The files hold every binding: remove charges of namespaces they do not name."
)
@click.option("--dry-run", is_flag=True, help="Print what would be corrected, and change nothing.")
def reconcile(
    url: str, bindings: tuple[str, ...], kubeconfig: str | None, context: str, complete: bool, dry_run: bool
) -> int:
    """Take the truth from bindings or a cluster; print and record every correction. Exit code 1 when there were any."""
    if bool(bindings) == bool(kubeconfig):
        raise click.UsageError("say where the truth is: one of --bindings and --kubeconfig")
    import asyncio

    from estimator.accounting.ledger import Ledger
    from estimator.accounting.reconcile import Reconciliation

    async def run() -> Counter[str]:
        corrections = Counter[str]()
        async with Ledger(url) as ledger:
            as_of = _written(bindings, ledger.clock())
            run = Reconciliation(ledger, as_of, dry_run=dry_run)
            batches = _live(kubeconfig, context) if kubeconfig else _files(bindings)
            async for batch in batches:
                corrections += _print(await run.take(batch))
            corrections += _print(await run.finish(complete=complete or bool(kubeconfig)))
            if run.newer:
                click.echo(f"{run.newer} left alone: the ledger knows them from after the truth was taken", err=True)
        return corrections

    corrections = asyncio.run(run())
    unreadable = corrections["unreadable"]
    corrected = corrections.total() - unreadable
    done = "would be corrected" if dry_run else "corrected"
    left = f", {unreadable} binding{'' if unreadable == 1 else 's'} could not be read" if unreadable else ""
    click.echo(f"{corrected} charge{'' if corrected == 1 else 's'} {done}{left}", err=True)
    return 1 if corrections else 0


def _print(corrections: Sequence[Correction]) -> Counter[str]:
    """Print them; how many there are of each sort."""
    for correction in corrections:
        click.echo(correction)
    return Counter(correction.what for correction in corrections)


def _written(paths: Sequence[str], now: float) -> float:
    """When the truth was taken: the oldest file's time, or now for standard input and a live cluster."""
    from pathlib import Path

    from estimator.accounting.streams import files_in

    return min((Path(file).stat().st_mtime for file in files_in(paths) if Path(file).is_file()), default=now)


async def _files(paths: Sequence[str]) -> AsyncIterator[list[Binding]]:
    from estimator.accounting.intake import stream_bindings

    bindings = stream_bindings(paths)
    while batch := list(islice(bindings, _BATCH)):
        yield batch


async def _live(kubeconfig: str, context: str) -> AsyncIterator[list[Binding]]:
    from pathlib import Path

    from estimator.accounting.intake import only_bindings
    from estimator.accounting.live import live_bindings
    from estimator.snapshot.apiserver import ApiServer
    from estimator.snapshot.kubeconfig import read_kubeconfig

    async with ApiServer(read_kubeconfig(Path(kubeconfig), context)) as server:
        async for page in live_bindings(server):
            yield list(only_bindings(page, kubeconfig))
