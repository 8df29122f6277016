"""`interp run`: ask a script about an object and show the answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from interp.options.dataclass import read_into
from interp.scripts.sources import script_options
from interp.verbs.run.formats import FORMATS
from interp.verbs.run.options import Options
from interpreters.core.operations import BY_FUNCTION, BY_NAME
from interpreters.core.requirements import MOST_REPLICAS

Replicas = click.IntRange(0, MOST_REPLICAS)


def _complete_question(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
    """Functions and operations for the first word, files for any."""
    from click.shell_completion import CompletionItem

    first = not context.params.get("question")
    names = [*BY_FUNCTION, *BY_NAME] if first else []
    found = dict.fromkeys(name for name in names if name.lower().startswith(incomplete.lower()))
    # Files first: bash forgets what came before them, and completes them where no name fits.
    return [CompletionItem(incomplete, type="file"), *map(CompletionItem, found)]


@click.command("run", short_help="ask a script about an object")
@click.argument("question", nargs=-1, metavar="[OPERATION] OBJECT...", shell_complete=_complete_question)
@script_options
@click.option("--observed", metavar="F", type=click.Path(), help="Retain: the object as it is in the member cluster.")
@click.option(
    "--status", metavar="F", type=click.Path(), help="AggregateStatus: the status items of the member clusters."
)
@click.option("--replicas", type=Replicas, metavar="N", help="ReviseReplica: the number to scale to.")
@click.option("--watch", is_flag=True, help="Run again whenever a file changes.")
@click.option("--trace", is_flag=True, help="Say which source answered, and what it took: cost, time, memory.")
@FORMATS.option
@click.option("-f", "--filename", "files", multiple=True, hidden=True, type=click.Path(exists=True, path_type=Path))
@click.option("--operation", "named", hidden=True)
@click.option("--desired-file", hidden=True)
@click.option("--observed-file", hidden=True)
@click.option("--status-file", hidden=True)
@click.option("--desired-replica", type=Replicas, hidden=True)
@click.option("--check", is_flag=True, hidden=True)
@read_into(Options)
def command(options: Options) -> int:
    """Ask a script about an object: OPERATION by its own name or its function's, in any case; without one, everything
    that the script offers. With -s no other script is asked. `-` is standard input. The flags of `karmadactl interpret`
    work as they do there.

    \b
    interp run flink.yaml
    interp run GetComponents flink.yaml -s my/interpreter.lua --trace
    interp run ReviseReplica job.yaml --replicas 3
    """
    from interp.verbs.run.run import run

    return run(options)
