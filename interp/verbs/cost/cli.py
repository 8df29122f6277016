"""`interp cost`: what workloads cost in money over a period, by cost centre, namespace, workload or component."""

from __future__ import annotations

import click

from interp.options.dataclass import read_into
from interp.options.times import moment_option, read_moment
from interp.verbs.cost.formats import FORMATS
from interp.verbs.cost.options import Options


def _snapshot(
    context: click.Context, parameter: click.Parameter, given: tuple[tuple[str, str], ...]
) -> list[tuple[int, str]]:
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
@FORMATS.option
@read_into(Options)
def command(options: Options) -> int:
    """Price what workloads request in the clusters they are bound to. Exit code 1 when something has no price.

    A dump shows one moment: what it shows counts for the whole period; a binding that is younger counts from its
    creation on. What was changed or deleted in between is seen by several snapshots.

    \b
    interp cost --prices prices.yaml --bindings dump.json --from 2026-10-01T00:00:00Z --to 2026-11-01T00:00:00Z
    interp cost --prices prices.yaml --snapshot 2026-10-01 a.json --snapshot 2026-10-02 b.json -o csv
    """
    if sum(map(bool, (options.bindings, options.snapshots, options.kubeconfig, options.ledger))) != 1:
        raise click.UsageError("say where the bindings are: one of --bindings, --snapshot, --kubeconfig and --ledger")
    from interp.verbs.cost.run import bill_of

    bill = bill_of(options)
    FORMATS.print(options.output, bill)
    for note in bill.notes:
        click.echo(f"note: {note}", err=True)
    return 1 if bill.notes else 0
