"""A bill from the options of `interp cost`."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from estimator.accounting.chargeback.bill import Bill, make_bill
from estimator.accounting.chargeback.cost_centres import Payers
from estimator.accounting.chargeback.meter import Meter, Period
from estimator.accounting.chargeback.prices import read_prices
from estimator.accounting.chargeback.read_usage import Snapshot, read_snapshot
from estimator.accounting.sources.file_errors import numbered
from estimator.accounting.sources.object_stream import files_in, stream_objects
from interp.verbs.cost.options import Options
from interpreters.files import name_of


def bill_of(options: Options) -> Bill:
    """What the workloads cost. Raises `click.UsageError` for a period that does not begin or end."""
    snapshots = options.snapshots
    begin = options.start if options.start is not None else snapshots[0][0] if snapshots else None
    if begin is None:
        raise click.UsageError("say when the period begins: --from, such as 2026-01-31T12:00:00Z")
    period = Period(begin, int(datetime.now(UTC).timestamp()) if options.end is None else options.end)
    if period.end <= period.start:
        raise click.UsageError("the period ends before it begins: --to has to be after --from")
    price_list = read_prices(options.prices)
    meter = Meter(Payers(price_list.centres))
    _learn(meter, options.workloads)
    if options.kubeconfig:
        _read_live(meter, options.kubeconfig, options.context, period)
    elif options.ledger:
        _read_ledger(meter, options.ledger, period)
    else:
        _read_files(meter, [(period.start, options.bindings)] if options.bindings else snapshots, period)
    source = "the bindings of now" if options.kubeconfig else "the charges of now" if options.ledger else ""
    return make_bill(meter, price_list, period, options.by, _basis(source, len(snapshots) or 1))


def _basis(source: str, snapshots: int) -> str:
    """What a bill was made by, so that nobody takes it for a record of all that ran."""
    if not source and snapshots > 1:
        return (
            f"{snapshots} snapshots, each for the time until the next: what was changed or deleted between is not in it"
        )
    return f"{source or 'one snapshot'}, for the whole period: what was changed or deleted meanwhile is not in it"


def _learn(meter: Meter, workloads: tuple[str, ...]) -> None:
    for file in files_in(workloads):
        meter.payers.learn(numbered(name_of(file), stream_objects(file)))


def _read_files(meter: Meter, given: list[tuple[int, str]], period: Period) -> None:
    for snapshot in _cut(given, period):
        read_snapshot(meter, snapshot)


def _cut(given: list[tuple[int, str]], period: Period) -> list[Snapshot]:
    """Each from its time to the next one's, as far as that lies in the period."""
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
