"""Asking the scripts what the options of `interp run` name, and printing the answers."""

from __future__ import annotations

from pathlib import Path

import click
from msgspec.structs import replace

from interp.inputs import read_objects, read_one_object
from interp.output.messages import print_error, print_warning
from interp.output.script_errors import error_text
from interp.scripts.sources import Sources, open_scripts
from interp.verbs.run.answers import Answer, Answers
from interp.verbs.run.formats import FORMATS
from interp.verbs.run.formats.trace import print_trace
from interp.verbs.run.inputs import Inputs, read_status_items
from interp.verbs.run.options import Options
from interpreters.catalog import Catalog
from interpreters.core.documents import Document
from interpreters.core.errors import InterpError, ScriptError, UnknownTargetError
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import BY_FUNCTION, OPERATIONS, Operation, find_operation, meant_function
from interpreters.interpretation import Interpretation, Runner, interpret, load_functions
from interpreters.scan import Candidate, Origin


def run(options: Options) -> int:
    """The exit code: 1 when a script failed, or is broken."""
    scripts = (*options.sources.scripts, *options.files)
    sources = replace(options.sources, scripts=scripts, no_others=bool(scripts))
    if options.check:
        return _check(sources)
    operation, objects = _question(options.question, options.named)
    observed, status = options.observed or options.observed_file, options.status or options.status_file
    replicas = options.replicas if options.replicas is not None else options.desired_replica
    if not objects:
        # As karmadactl does: the one object is in whichever of the two files the operation is about.
        objects = tuple(file for file in (options.desired_file, observed) if file)[:1]
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
        return _run(inputs, operation, sources, options)

    if not options.watch:
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


def _run(inputs: Inputs, operation: Operation | None, sources: Sources, options: Options) -> int:
    kinds = {GroupVersionKind.of(obj) for obj in inputs.objects}
    answers: list[Answer] = []
    with open_scripts(sources, kinds) as (runner, catalog):
        if _is_broken(catalog, kinds):
            return 1
        for obj in inputs.objects:
            asked = _asked(runner, catalog, GroupVersionKind.of(obj), operation, sources)
            answers += _answers(runner, catalog, inputs, obj, asked, is_named=operation is not None)
    FORMATS.print(options.output, Answers(answers, operation is not None))
    if options.trace:
        for answer in answers:
            print_trace(answer)
    return 1 if any(isinstance(answer.found, InterpError) for answer in answers) else 0


def _is_broken(catalog: Catalog, kinds: set[GroupVersionKind]) -> bool:
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
