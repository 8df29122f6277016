"""`interp cost`: what workloads cost in money over a period, by cost centre, namespace, workload or component."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from interp.options.times import moment_option
from interp.output.formats import format_option
from interp.output.json import print_json

if TYPE_CHECKING:
    from estimator.accounting.chargeback.bill import Bill
    from estimator.accounting.chargeback.meter import Meter, Period
    from estimator.accounting.chargeback.read_usage import Snapshot


def _snapshot(
    context: click.Context, parameter: click.Parameter, given: tuple[tuple[str, str], ...]
) -> list[tuple[int, str]]:
    from interp.options.times import read_moment

    return sorted((read_moment(time), path) for time, path in given)


@click.command("cost", short_help="what workloads cost in money, by team, workload and component")
@click.option("--prices", required=True, metavar="F", help="The price file: prices of an hour, and cost centres.")
@click.option("--bindings", metavar="F", help="Bindings: a file (JSON, NDJSON, YAML, gzip), a folder, or -.")
@click.option(
    "--snapshot", "snapshots", nargs=2, multiple=True, metavar="TIME F", callback=_snapshot,
    help="Bindings as they were from TIME on, until the next snapshot. May be given often.",
)  # fmt: skip
@click.option("--kubeconfig", metavar="F", help="Read bindings from this Karmada instead of files.")
@click.option("--context", default="", metavar="NAME", help="The context in the kubeconfig.")
@click.option("--ledger", metavar="URL", help="What a ledger charges and has seen: an SQLite file or postgresql://…")
@click.option(
    "--workloads", multiple=True, metavar="F", help="Workloads and Namespaces, for their labels and annotations."
)
@moment_option("--from", "start", help="When the period begins; by default with the first snapshot.")
@moment_option("--to", "end", help="When it ends; by default now.")
@click.option(
    "--by", type=click.Choice(["centre", "namespace", "workload", "component"]), default="centre", show_default=True,
    help="What has a row of its own.",
)  # fmt: skip
@format_option("text", "csv", "json", "parquet")
def command(
    prices: str,
    bindings: str | None,
    snapshots: list[tuple[int, str]],
    kubeconfig: str | None,
    context: str,
    ledger: str | None,
    workloads: tuple[str, ...],
    start: int | None,
    end: int | None,
    by: str,
    output: str,
) -> int:
    """Price what workloads request in the clusters they are bound to. Exit code 1 when something has no price.

    A dump shows one moment: what it shows counts for the whole period; a binding that is younger counts from its
    creation on. What was changed or deleted in between is seen by several snapshots.

    \b
    interp cost --prices prices.yaml --bindings dump.json --from 2026-10-01T00:00:00Z --to 2026-11-01T00:00:00Z
    interp cost --prices prices.yaml --snapshot 2026-10-01 a.json --snapshot 2026-10-02 b.json -o csv
    """
    if sum(bool(source) for source in (bindings, snapshots, kubeconfig, ledger)) != 1:
        raise click.UsageError("say where the bindings are: one of --bindings, --snapshot, --kubeconfig and --ledger")
    from estimator.accounting.chargeback.bill import make_bill
    from estimator.accounting.chargeback.cost_centres import Payers
    from estimator.accounting.chargeback.meter import Meter, Period
    from estimator.accounting.chargeback.prices import read_prices

    begin = start if start is not None else snapshots[0][0] if snapshots else None
    if begin is None:
        raise click.UsageError("say when the period begins: --from, such as 2026-01-31T12:00:00Z")
    period = Period(begin, int(datetime.now(UTC).timestamp()) if end is None else end)
    if period.end <= period.start:
        raise click.UsageError("the period ends before it begins: --to has to be after --from")
    price_list = read_prices(prices)
    meter = Meter(Payers(price_list.centres))
    _learn(meter, workloads)
    if kubeconfig:
        _read_live(meter, kubeconfig, context, period)
    elif ledger:
        _read_ledger(meter, ledger, period)
    else:
        _read_files(meter, [(period.start, bindings)] if bindings else snapshots, period)
    source = "the bindings of now" if kubeconfig else "the charges of now" if ledger else ""
    bill = make_bill(meter, price_list, period, by, _basis(source, len(snapshots) or 1))
    _show(bill, output)
    for note in bill.notes:
        click.echo(f"note: {note}", err=True)
    return 1 if bill.notes else 0


def _basis(source: str, snapshots: int) -> str:
    """What a bill was made by, so that nobody takes it for a record of all that ran."""
    if not source and snapshots > 1:
        return (
            f"{snapshots} snapshots, each for the time until the next: what was changed or deleted between is not in it"
        )
    return f"{source or 'one snapshot'}, for the whole period: what was changed or deleted meanwhile is not in it"


def _learn(meter: Meter, workloads: tuple[str, ...]) -> None:
    from estimator.accounting.sources.file_errors import numbered
    from estimator.accounting.sources.object_stream import files_in, stream_objects
    from interpreters.files import name_of

    for file in files_in(workloads):
        meter.payers.learn(numbered(name_of(file), stream_objects(file)))


def _read_files(meter: Meter, given: list[tuple[int, str]], period: Period) -> None:
    from estimator.accounting.chargeback.read_usage import read_snapshot

    for snapshot in _cut(given, period):
        read_snapshot(meter, snapshot)


def _cut(given: list[tuple[int, str]], period: Period) -> list[Snapshot]:
    """Each from its time to the next one's, as far as that lies in the period."""
    from estimator.accounting.chargeback.meter import Period
    from estimator.accounting.chargeback.read_usage import Snapshot

    ends = [time for time, _ in given[1:]] + [period.end]
    cut = [
        Snapshot(path, Period(max(time, period.start), min(end, period.end)))
        for (time, path), end in zip(given, ends, strict=True)
    ]
    return [snapshot for snapshot in cut if snapshot.period.end > snapshot.period.start]


def _read_live(meter: Meter, kubeconfig: str, context: str, period: Period) -> None:
    import asyncio
    from pathlib import Path

    from estimator.accounting.chargeback.read_usage import read_bindings
    from estimator.accounting.sources.file_errors import numbered
    from estimator.accounting.sources.karmada_source import live_bindings, live_namespaces
    from estimator.clusters.apiserver import ApiServer
    from estimator.clusters.kubeconfig import read_kubeconfig

    async def read() -> None:
        async with ApiServer(read_kubeconfig(Path(kubeconfig), context)) as server:
            if meter.payers.reads_marks:
                meter.payers.learn(numbered(kubeconfig, await live_namespaces(server)))
            async for page in live_bindings(server):
                read_bindings(meter, numbered(kubeconfig, page), period)

    asyncio.run(read())


def _read_ledger(meter: Meter, url: str, period: Period) -> None:
    import asyncio

    from estimator.accounting.chargeback.read_usage import read_charges
    from estimator.accounting.ledger.database import existing_ledger
    from estimator.accounting.ledger.ledger import Ledger

    async def read() -> None:
        async with Ledger(existing_ledger(url), create=False) as ledger:
            await read_charges(meter, ledger.charges(), period)

    asyncio.run(read())


def _show(bill: Bill, output: str) -> None:
    from estimator.accounting.chargeback.rendering import bill_report, render_csv, render_text

    if output == "json":
        print_json(bill_report(bill))
    elif output == "parquet":
        from estimator.accounting.chargeback.parquet import write_parquet

        file = sys.stdout.buffer
        if file.isatty():
            raise click.UsageError(
                "Parquet is not for a terminal: send it to a file, interp cost … -o parquet > cost.parquet"
            )
        write_parquet(bill, file)
    elif output == "csv":
        for row in render_csv(bill):
            click.echo(row, nl=False)
    else:
        click.echo("\n".join(render_text(bill)))
