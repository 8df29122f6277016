"""`interp run`: ask a script about an object and show the answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from interp.inputs import read_objects, read_one_object
from interp.output.formats import format_option
from interp.output.messages import print_error, print_warning
from interp.output.script_errors import error_text
from interp.scripts.sources import Sources, open_scripts, script_options
from interp.verbs.run.answers import Answer, print_fields, print_text, print_trace
from interp.verbs.run.inputs import Inputs, read_status_items
from interpreters.catalog import Catalog
from interpreters.core.documents import Document
from interpreters.core.errors import InterpError, ScriptError, UnknownTargetError
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import (
    BY_FUNCTION,
    BY_NAME,
    OPERATIONS,
    Operation,
    find_operation,
    meant_function,
)
from interpreters.core.requirements import MOST_REPLICAS
from interpreters.interpretation import Interpretation, Runner, interpret, load_functions
from interpreters.scan import Candidate, Origin

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
@format_option("text", "json", "yaml")
@click.option("-f", "--filename", "files", multiple=True, hidden=True, type=click.Path(exists=True, path_type=Path))
@click.option("--operation", "named", hidden=True)
@click.option("--desired-file", hidden=True)
@click.option("--observed-file", hidden=True)
@click.option("--status-file", hidden=True)
@click.option("--desired-replica", type=Replicas, hidden=True)
@click.option("--check", is_flag=True, hidden=True)
def command(
    question: tuple[str, ...],
    observed: str | None,
    status: str | None,
    replicas: int | None,
    watch: bool,
    trace: bool,
    output: str,
    files: tuple[Path, ...],
    named: str | None,
    desired_file: str | None,
    observed_file: str | None,
    status_file: str | None,
    desired_replica: int | None,
    check: bool,
    **options: Any,
) -> int:
    """Ask a script about an object: OPERATION by its own name or its function's, in any case; without one, everything
    that the script offers. With -s no other script is asked. `-` is standard input. The flags of `karmadactl interpret`
    work as they do there.

    \b
    interp run flink.yaml
    interp run GetComponents flink.yaml -s my/interpreter.lua --trace
    interp run ReviseReplica job.yaml --replicas 3
    """
    scripts = (*options["scripts"], *files)
    sources = Sources(**{**options, "scripts": scripts, "no_others": bool(scripts)})
    if check:
        return _check(sources)
    operation, objects = _question(question, named)
    observed, status = observed or observed_file, status or status_file
    replicas = replicas if replicas is not None else desired_replica
    if not objects:
        # As karmadactl does: the one object is in whichever of the two files the operation is about.
        objects = tuple(file for file in (desired_file, observed) if file)[:1]
        observed = None if objects == (observed,) else observed
    if not objects:
        raise click.UsageError("which object? Name a file, or - for standard input.")

    def once() -> int:
        inputs = Inputs(
            read_objects(objects),
            read_one_object(observed) if observed else None,
            read_status_items(status) if status else None,
            replicas,
        )
        return _run(inputs, operation, sources, output, trace)

    if not watch:
        return once()
    from interp.verbs.run.watch import run_again

    places = [Path(place) for place in (*objects, observed, status) if place and place != "-"]
    run_again(once, [*places, *sources.scripts, *sources.folders, *sources.customizations])
    return 0


def _question(words: tuple[str, ...], named: str | None) -> tuple[Operation | None, tuple[str, ...]]:
    if named is not None:
        return find_operation(named), words
    if not words or words[0] == "-" or Path(words[0]).exists():
        return None, words
    try:
        return find_operation(words[0]), words[1:]
    except UnknownTargetError as error:
        if len(words) > 1:
            raise
        raise click.UsageError(f"{words[0]}: no such file, and {error}") from None


def _run(inputs: Inputs, operation: Operation | None, sources: Sources, output: str, trace: bool) -> int:
    kinds = {GroupVersionKind.of(obj) for obj in inputs.objects}
    answers: list[Answer] = []
    with open_scripts(sources, kinds) as (runner, catalog):
        if _complained(catalog, kinds):
            return 1
        for obj in inputs.objects:
            asked = _asked(runner, catalog, GroupVersionKind.of(obj), operation, sources)
            answers += _answers(runner, catalog, inputs, obj, asked, is_named=operation is not None)
    if output == "text":
        for answer in answers:
            print_text(answer, single=len(answers) == 1)
    else:
        print_fields(answers, output, single_operation=operation is not None)
    if trace:
        for answer in answers:
            print_trace(answer)
    return 1 if any(isinstance(answer.found, InterpError) for answer in answers) else 0


def _complained(catalog: Catalog, kinds: set[GroupVersionKind]) -> bool:
    """Say what is broken: whoever has a script for a kind wants its answer, not that of the next one in line."""
    blocking = [broken for kind in sorted(kinds) if (broken := catalog.in_the_way(kind))]
    blocking += [one for one in catalog.broken if one.source.origin is Origin.SCRIPT and one.kind is None]
    for broken in blocking:
        click.echo(error_text(broken.error, broken.script), err=True)
    for broken in catalog.broken:
        if broken.kind is None and broken not in blocking:
            print_warning(f"left out: {broken.error}")
    return bool(blocking)


def _asked(
    runner: Runner, catalog: Catalog, kind: GroupVersionKind, operation: Operation | None, sources: Sources
) -> list[Operation]:
    """The operations to ask about: the one given, or all that the scripts for this kind offer, broken rules included.

    The default's guesses are for kinds that no script knows.
    """
    offers = catalog.operations(kind)
    written = [one for one, offer in offers if offer.source.origin is not Origin.DEFAULT]
    written += [one for one in OPERATIONS if catalog.in_the_way(kind, one)]
    if sources.scripts and (not written or operation not in (None, *written)):
        names = ", ".join(map(str, sources.scripts))
        what = f"does not answer {operation}" if operation else "answers nothing"
        answered = f"it answers {', '.join(map(str, written))}" if written else f"interp lint {names} says more"
        raise ScriptError(f"{names} {what} for {kind}; {_misnamed(runner, sources, operation) or answered}")
    if operation:
        return [operation]
    return [one for one in OPERATIONS if one in written] or [one for one, _ in offers]


def _misnamed(runner: Runner, sources: Sources, operation: Operation | None = None) -> str:
    """Functions of the named scripts that were probably meant to answer (this operation) but are never called."""
    loaded = load_functions(runner, (entry for entry in sources.scan() if isinstance(entry, Candidate)))
    functions = {name for found in loaded.values() if not isinstance(found, ScriptError) for name in found}
    meant = {name: wanted for name in sorted(functions) if (wanted := meant_function(name))}
    return " ".join(
        f"{name} is never called, did you mean {wanted}?"
        for name, wanted in meant.items()
        if operation in (None, BY_FUNCTION[wanted])
    )


def _answers(
    runner: Runner, catalog: Catalog, inputs: Inputs, obj: Document, asked: list[Operation], *, is_named: bool
) -> list[Answer]:
    answers = []
    for one in asked:
        flag = inputs.missing(one)
        if flag and is_named:
            raise click.UsageError(f"{one} needs {flag}.")
        if flag:
            click.echo(click.style(f"{one}: left out, it needs {flag}", dim=True), err=True)
            continue
        found: Interpretation | InterpError
        try:
            found = interpret(runner, catalog, inputs.request(obj, one))
        except InterpError as error:
            found = error
        answers.append(Answer(obj, one, found, catalog))
    return answers


def _check(sources: Sources) -> int:
    """`--check`: do the named scripts load and define what they promise?"""
    if not sources.scripts:
        raise click.UsageError("--check needs -f or -s with what to check.")
    with open_scripts(sources) as (runner, catalog):
        for broken in catalog.broken:
            click.echo(error_text(broken.error, broken.script), err=True)
        for offers in catalog.offers.values():
            for offer in offers:
                click.echo(f"{offer.script.name}: {offer.operation}: {click.style('ok', fg='green')}")
        if not catalog.offers and not catalog.broken:
            names = ", ".join(map(str, sources.scripts))
            hint = _misnamed(runner, sources) or f"interp lint {names} says more"
            print_error(f"{names}: no function that Karmada calls; {hint}")
    return 0 if catalog.offers and not catalog.broken else 1
