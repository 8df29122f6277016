"""`interp run`: ask a script about an object and show the answer."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import msgspec
from msgspec import Struct

from interp.complaints import complaint, printed_lines
from interp.inputs import modified, read_objects, read_one_object, read_status_items
from interp.output import diff_lines, format_option, print_json, print_yaml, to_yaml
from interp.scripts import Sources, open_scripts, script_options
from interpreters.catalog import Catalog
from interpreters.core.documents import Document
from interpreters.core.errors import InterpError, UnknownTargetError
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import Argument, Operation, find_operation
from interpreters.core.wire import response_fields
from interpreters.interpretation import Interpretation, Runner, interpret, request_for
from interpreters.scan import Origin


class Inputs(Struct, frozen=True):
    """What the questions are about. None: not given."""

    objects: list[Document]
    observed: Document | None
    status: list[dict[str, Any]] | None
    replicas: int | None

    def missing(self, operation: Operation) -> str | None:
        """The flag that this operation needs and that was not given."""
        needs = {
            Argument.OBSERVED: ("--observed", self.observed),
            Argument.STATUS: ("--status", self.status),
            Argument.REPLICAS: ("--replicas", self.replicas),
        }
        return next((needs[a][0] for a in operation.arguments if a in needs and needs[a][1] is None), None)

    def request(self, obj: Document, operation: Operation) -> Any:
        more: dict[str, Any] = {"replicas": self.replicas or 0}
        if self.observed is not None:
            more["observed_object"] = msgspec.json.encode(self.observed)
        if self.status is not None:
            more["aggregated_status"] = msgspec.json.encode(self.status)
        return request_for(obj, operation, **more)


class Answer(Struct, frozen=True):
    """One object, one operation: an interpretation, or why there is none."""

    object: Document
    operation: Operation
    found: Interpretation | InterpError
    catalog: Catalog


@click.command("run", short_help="ask a script about an object")
@click.argument("question", nargs=-1, metavar="[OPERATION] OBJECT...")
@script_options
@click.option("--observed", metavar="F", help="Retain: the object as it is in the member cluster.")
@click.option("--status", metavar="F", help="AggregateStatus: the status items of the member clusters.")
@click.option("--replicas", type=int, metavar="N", help="ReviseReplica: the number to scale to.")
@click.option("--watch", is_flag=True, help="Run again whenever a file changes.")
@click.option("--trace", is_flag=True, help="Say which source answered, and the time and memory it took.")
@format_option("text", "json", "yaml")
@click.option("-f", "--filename", "files", multiple=True, hidden=True, type=click.Path(exists=True, path_type=Path))
@click.option("--operation", "named", hidden=True)
@click.option("--desired-file", hidden=True)
@click.option("--observed-file", hidden=True)
@click.option("--status-file", hidden=True)
@click.option("--desired-replica", type=int, hidden=True)
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
    that the script offers. `-` is standard input. The flags of `karmadactl interpret` work as they do there.

    \b
    interp run flink.yaml
    interp run GetComponents flink.yaml -s my/interpreter.lua --trace
    interp run ReviseReplica job.yaml --replicas 3
    """
    sources = Sources(**{**options, "scripts": (*options["scripts"], *files)})
    if check:
        return _check(sources)
    operation, objects = _question(question, named)
    observed, status = observed or observed_file, status or status_file
    replicas = replicas if replicas is not None else desired_replica
    if not objects:
        # As karmadactl does: the one object is in whichever of the two files the operation is about.
        objects = tuple(file for file in (desired_file, observed) if file)[:1]
    if not objects:
        raise click.UsageError("which object? Name a file, or - for standard input.")

    def once() -> int:
        inputs = Inputs(
            read_objects(objects),
            read_one_object(observed) if observed and observed not in objects else None,
            read_status_items(status) if status else None,
            replicas,
        )
        return _run(inputs, operation, sources, output, trace)

    if not watch:
        return once()
    places = [Path(place) for place in (*objects, observed, status) if place and place != "-"]
    _watch(once, [*places, *sources.scripts, *sources.folders, *sources.customizations])
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
        named = [broken for broken in catalog.broken if broken.source.origin is Origin.SCRIPT]
        if named:  # whoever names a script wants its answer and no other's
            for broken in named:
                click.echo(complaint(broken.error), err=True)
            return 1
        for obj in inputs.objects:
            answers += _answers(runner, catalog, inputs, obj, operation)
    if output == "text":
        for answer in answers:
            _print_text(answer, single=len(answers) == 1)
    else:
        _print_fields(answers, output, single_operation=operation is not None)
    if trace:
        for answer in answers:
            _print_trace(answer)
    return 1 if any(isinstance(answer.found, InterpError) for answer in answers) else 0


def _answers(
    runner: Runner, catalog: Catalog, inputs: Inputs, obj: Document, operation: Operation | None
) -> list[Answer]:
    kind = GroupVersionKind.of(obj)
    operations = [operation] if operation else _offered(catalog, kind)
    answers = []
    for one in operations:
        flag = inputs.missing(one)
        if flag and operation:
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


def _offered(catalog: Catalog, kind: GroupVersionKind) -> list[Operation]:
    """What the scripts for this kind offer; the default's guesses only if there is no script at all."""
    offers = catalog.operations(kind)
    written = [operation for operation, offer in offers if offer.source.origin is not Origin.DEFAULT]
    return written or [operation for operation, _ in offers]


def _print_text(answer: Answer, *, single: bool) -> None:
    if not single:
        metadata = answer.object.get("metadata") or {}
        name = "/".join(str(metadata[key]) for key in ("namespace", "name") if metadata.get(key))
        title = click.style(str(answer.operation), bold=True)
        click.echo(f"{title}  {answer.object.get('kind')} {name}".rstrip())
    if isinstance(answer.found, InterpError):
        _print_error(answer, answer.found)
        if not single:
            click.echo("")
        return
    reply = answer.found.reply
    for line in printed_lines(answer.found.printed):
        click.echo(line, err=True)
    if reply.changed_object is not None:
        lines = diff_lines(answer.object, reply.changed_object) if reply.patch else [click.style("no change", dim=True)]
        click.echo("\n".join(lines))
    else:
        click.echo(to_yaml(response_fields(reply)), nl=False)
    for warning in reply.warnings:
        click.echo(f"{click.style('warning:', fg='yellow', bold=True)} {warning}", err=True)
    if not single:
        click.echo("")


def _print_error(answer: Answer, error: InterpError) -> None:
    offers = answer.catalog.shadowing(GroupVersionKind.of(answer.object), answer.operation)
    is_written = offers and offers[0].source.origin is not Origin.DEFAULT
    click.echo(complaint(error, offers[0].script if is_written else None), err=True)


def _print_fields(answers: list[Answer], output: str, *, single_operation: bool) -> None:
    """One object a document; with several operations, a field for each."""
    documents: list[dict[str, Any]] = []
    seen: list[int] = []
    for answer in answers:
        if isinstance(answer.found, InterpError):
            _print_error(answer, answer.found)
            fields: dict[str, Any] = {"error": {"code": answer.found.code, "message": str(answer.found)}}
        else:
            for line in printed_lines(answer.found.printed):
                click.echo(line, err=True)
            fields = response_fields(answer.found.reply)
        if single_operation:
            documents.append(fields)
        elif id(answer.object) in seen:
            documents[seen.index(id(answer.object))][answer.operation.name] = fields
        else:
            seen.append(id(answer.object))
            documents.append({answer.operation.name: fields})
    if output == "yaml":
        print_yaml(*documents)
    else:
        print_json(documents[0] if len(documents) == 1 else documents)


def _print_trace(answer: Answer) -> None:
    if isinstance(answer.found, InterpError):
        return
    for offer, outcome in zip(answer.found.offers, answer.found.outcomes, strict=True):
        where = f"{offer.source.origin} {offer.script.name}, function {offer.function} ({offer.script.language})"
        used = f"{outcome.seconds * 1e6:.0f} µs, {outcome.memory / 1024:.0f} KiB"
        click.echo(click.style(f"trace: {answer.operation}: {where}: {used}", dim=True), err=True)
    for shadowed in answer.catalog.shadowing(GroupVersionKind.of(answer.object), answer.operation):
        if shadowed not in answer.found.offers:
            click.echo(
                click.style(
                    f"trace: {answer.operation}: shadows {shadowed.source.origin} {shadowed.script.name}", dim=True
                ),
                err=True,
            )


def _check(sources: Sources) -> int:
    """`--check`: do the named scripts load and define what they promise?"""
    if not sources.scripts:
        raise click.UsageError("--check needs -f or -s with what to check.")
    with open_scripts(Sources(scripts=sources.scripts, no_bundled=True)) as (_, catalog):
        for broken in catalog.broken:
            click.echo(complaint(broken.error), err=True)
        for offers in catalog.offers.values():
            for offer in offers:
                if offer.script.name != "default":
                    click.echo(f"{offer.script.name}: {offer.operation}: {click.style('ok', fg='green')}")
    return 1 if catalog.broken else 0


def _watch(once: Callable[[], int], places: list[Path]) -> None:
    while True:
        click.clear()
        before = modified(places)
        try:
            once()
        except InterpError as error:
            click.echo(complaint(error), err=True)
        click.echo(click.style("watching; Ctrl-C ends it", dim=True), err=True)
        sys.stdout.flush()
        while modified(places) == before:
            time.sleep(0.2)
