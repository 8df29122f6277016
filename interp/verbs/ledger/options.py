"""`interp ledger`: what is charged to whom; show it, export it, and reconcile it with the bindings there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from interp.output.formats import format_option
from interp.output.json import print_json
from interp.scripts.sources import Sources, script_options
from interp.verbs.ledger.history import command as history

if TYPE_CHECKING:
    from estimator.accounting.audit.read_bindings import Unreadable
    from estimator.accounting.demand import Binding
    from estimator.accounting.podless_bindings import Told
    from estimator.accounting.reconcile import Correction
    from estimator.accounting.sources.karmada_source import LiveObjects

_BATCH: Final = 2000  # bindings compared in one transaction

url_argument = click.argument("url", metavar="URL", envvar="INTERP_LEDGER")


@click.group("ledger", short_help="what is charged to whom")
def command() -> None:
    """What is charged to whom. URL is an SQLite file or postgresql://user@host/name."""


command.add_command(history)


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

    from estimator.accounting.ledger.database import existing_ledger
    from estimator.accounting.ledger.ledger import Ledger
    from estimator.accounting.ledger.report import Statement, read_statement, render_statement

    async def read() -> Statement:
        async with Ledger(existing_ledger(url), create=False) as ledger:
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

    from estimator.accounting.ledger.database import existing_ledger
    from estimator.accounting.ledger.ledger import Ledger
    from estimator.accounting.ledger.report import csv_header, csv_row, export_lines, ndjson_row

    async def write() -> None:
        row = csv_row if output == "csv" else ndjson_row
        async with Ledger(existing_ledger(url), create=False) as ledger:
            if output == "csv":
                click.echo(csv_header(what), nl=False)
            async for line in export_lines(ledger, what, namespace):
                click.echo(row(line), nl=False)

    asyncio.run(write())
    return 0


def _moment(context: click.Context, parameter: click.Parameter, text: str | None) -> float | None:
    from estimator.accounting.ledger.freshness import moment_of

    moment = moment_of(text)
    if text is not None and moment is None:
        raise click.BadParameter(f'expected a time such as 2026-01-31T12:00:00Z, got "{text}"')
    return moment


@command.command("reconcile")
@url_argument
@click.option("--bindings", multiple=True, metavar="F", help="The truth: bindings in files or folders.")
@click.option("--kubeconfig", metavar="F", help="The truth: a live Karmada.")
@click.option("--context", default="", metavar="NAME", help="The context in the kubeconfig.")
@click.option(
    "--as-of", metavar="TIME", callback=_moment, help="When the files were exported, such as 2026-01-31T12:00:00Z."
)
@click.option(
    "--workloads", multiple=True, metavar="F", help="Objects of bindings that say no pods, for scripts to count them."
)
@click.option(
    "--complete", is_flag=True, help="The files hold every binding: remove charges of namespaces they do not name."
)
@click.option("--dry-run", is_flag=True, help="Print what would be corrected, and change nothing.")
@script_options
def reconcile(
    url: str,
    bindings: tuple[str, ...],
    kubeconfig: str | None,
    context: str,
    as_of: float | None,
    workloads: tuple[str, ...],
    complete: bool,
    dry_run: bool,
    **options: Any,
) -> int:
    """Take the truth from bindings or a cluster; print and record every correction. Exit code 1 when there were any.

    What the ledger knows of a newer state stays. Which is newer is told by resourceVersion and creation time, and by
    --as-of where these do not tell.
    """
    if bool(bindings) == bool(kubeconfig):
        raise click.UsageError("say where the truth is: one of --bindings and --kubeconfig")
    if kubeconfig and as_of is not None:
        raise click.UsageError("--as-of goes with --bindings: a live Karmada is read now")
    import asyncio

    from estimator.accounting.ledger.ledger import RECONCILED, Ledger
    from estimator.accounting.reconcile import Reconciliation
    from estimator.accounting.sources.karmada_source import GRACE_SECONDS
    from interp.scripts.object_demands import ObjectDemands, object_demands

    async def run(demands: ObjectDemands) -> Counter[str]:
        corrections = Counter[str]()
        async with AsyncExitStack() as stack:
            ledger = await stack.enter_async_context(Ledger(url))
            taken = await ledger.now() - GRACE_SECONDS if kubeconfig else as_of
            truth = await stack.enter_async_context(_live(kubeconfig, context)) if kubeconfig else _files(bindings)
            given = demands.of_files(_read_workloads(workloads))

            async def objects(found: Sequence[Binding]) -> Told:
                others = [binding for binding in found if binding.workload not in given]
                return {**given, **await demands.of_bindings(others, truth.objects)}

            run = Reconciliation(ledger, taken, dry_run=dry_run, objects=objects)
            async for batch in truth.batches:
                corrections += _print(await run.take(batch))
            corrections += _print(await run.finish(complete=complete or bool(kubeconfig)))
            if kubeconfig and not dry_run:
                await ledger.note_moment(RECONCILED)
            if run.newer:
                hint = "" if kubeconfig or as_of is not None else "; --as-of TIME says when the files were exported"
                click.echo(f"{run.newer} left alone: the ledger knows something newer{hint}", err=True)
        return corrections

    with object_demands(Sources(**options)) as demands:
        corrections = asyncio.run(run(demands))
    unreadable, uncounted = corrections["unreadable"], corrections["uncounted"]
    corrected = corrections.total() - unreadable - uncounted
    done = "would be corrected" if dry_run else "corrected"
    left = f", {unreadable} binding{'' if unreadable == 1 else 's'} could not be read" if unreadable else ""
    left += f", {uncounted} could not be counted; give the objects with --workloads" if uncounted else ""
    click.echo(f"{corrected} charge{'' if corrected == 1 else 's'} {done}{left}", err=True)
    return 1 if corrections else 0


def _print(corrections: Sequence[Correction]) -> Counter[str]:
    """Print them; how many there are of each sort."""
    for correction in corrections:
        click.echo(correction)
    return Counter(correction.what for correction in corrections)


class _Truth(NamedTuple):
    """Bindings in batches, and where their objects are if these can be asked for."""

    batches: AsyncIterator[list[Binding | Unreadable]]
    objects: LiveObjects | None = None


def _files(paths: Sequence[str]) -> _Truth:
    from estimator.accounting.audit.read_bindings import stream_bindings

    async def batches() -> AsyncIterator[list[Binding | Unreadable]]:
        bindings = stream_bindings(paths)
        while batch := list(islice(bindings, _BATCH)):
            yield batch

    return _Truth(batches())


@asynccontextmanager
async def _live(kubeconfig: str, context: str) -> AsyncIterator[_Truth]:
    from pathlib import Path

    from estimator.accounting.audit.read_bindings import only_bindings
    from estimator.accounting.sources.karmada_source import LiveObjects, live_bindings
    from estimator.clusters.apiserver import ApiServer
    from estimator.clusters.kubeconfig import read_kubeconfig

    async with ApiServer(read_kubeconfig(Path(kubeconfig), context)) as server:
        yield _Truth(
            (list(only_bindings(page, kubeconfig)) async for page in live_bindings(server)), LiveObjects(server)
        )


def _read_workloads(paths: Sequence[str]) -> list[dict[str, Any]]:
    from estimator.placement.bindings import in_namespace
    from interp.inputs import read_objects

    return [in_namespace(obj) for obj in read_objects(tuple(paths))] if paths else []
