"""`interp ledger reconcile`: the charges are made to fit the bindings there are."""

from __future__ import annotations

import click

from interp.options.dataclass import read_into
from interp.output.text import counted
from interp.scripts.sources import script_options
from interp.verbs.ledger.options import Options
from interp.verbs.ledger.url import url_argument


def _moment(context: click.Context, parameter: click.Parameter, text: str | None) -> float | None:
    from estimator.accounting.ledger.freshness import moment_of

    moment = moment_of(text)
    if text is not None and moment is None:
        raise click.BadParameter(f'expected a time such as 2026-01-31T12:00:00Z, got "{text}"')
    return moment


@click.command("reconcile")
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
@read_into(Options)
def reconcile(options: Options) -> int:
    """Take the truth from bindings or a cluster; print and record every correction. Exit code 1 when there were any.

    What the ledger knows of a newer state stays. Which is newer is told by resourceVersion and creation time, and by
    --as-of where these do not tell.
    """
    if bool(options.bindings) == bool(options.kubeconfig):
        raise click.UsageError("say where the truth is: one of --bindings and --kubeconfig")
    if options.kubeconfig and options.as_of is not None:
        raise click.UsageError("--as-of goes with --bindings: a live Karmada is read now")
    from interp.verbs.ledger.reconciliation import correct

    corrections = correct(options)
    unreadable, uncounted = corrections["unreadable"], corrections["uncounted"]
    corrected = corrections.total() - unreadable - uncounted
    done = "would be corrected" if options.dry_run else "corrected"
    left = f", {counted(unreadable, 'binding')} could not be read" if unreadable else ""
    left += f", {uncounted} could not be counted; give the objects with --workloads" if uncounted else ""
    click.echo(f"{counted(corrected, 'charge')} {done}{left}", err=True)
    return 1 if corrections else 0
