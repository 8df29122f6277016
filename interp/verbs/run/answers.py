"""Printing what `interp run` was answered: text and diffs for people, JSON and YAML for machines, and traces."""

from __future__ import annotations

from typing import Any

import click
from msgspec import Struct

from interp.output.diff import diff_lines
from interp.output.json import print_json
from interp.output.messages import print_warning
from interp.output.script_errors import error_text, printed_lines
from interp.output.yaml import print_yaml, to_yaml
from interpreters.catalog import Catalog
from interpreters.core.documents import Document
from interpreters.core.errors import InterpError
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import Operation
from interpreters.core.patch import apply
from interpreters.core.requirements import Wire
from interpreters.core.wire import response_fields
from interpreters.interpretation import Interpretation


class Failure(Wire, frozen=True):
    """Why there is no reply, as `error` in the output."""

    code: int
    message: str


class Answer(Struct, frozen=True):
    """One object, one operation: an interpretation, or why there is none."""

    object: Document
    operation: Operation
    found: Interpretation | InterpError
    catalog: Catalog


def print_text(answer: Answer, *, single: bool) -> None:
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
    if reply.patch:
        # The returned object itself may have its fields in another order, which is no change.
        click.echo("\n".join(diff_lines(answer.object, apply(answer.object, reply.patch))))
    elif reply.patch is not None:
        click.echo(click.style("no change", dim=True))
    else:
        click.echo(to_yaml(response_fields(reply)), nl=False)
    _print_warnings(answer.found)
    if not single:
        click.echo("")


def _print_warnings(found: Interpretation) -> None:
    for warning in (*found.reply.warnings, *found.lost):
        print_warning(warning)


def _print_error(answer: Answer, error: InterpError) -> None:
    kind = GroupVersionKind.of(answer.object)
    broken = answer.catalog.in_the_way(kind, answer.operation)
    offers = answer.catalog.shadowing(kind, answer.operation)
    asked = broken.script if broken else offers[0].script if offers else None
    click.echo(error_text(error, asked), err=True)


def print_fields(answers: list[Answer], output: str, *, single_operation: bool) -> None:
    """One object a document; with several operations, a field for each."""
    documents: list[dict[str, Any]] = []
    seen: list[int] = []
    for answer in answers:
        if isinstance(answer.found, InterpError):
            _print_error(answer, answer.found)
            fields: dict[str, Any] = {"error": Failure(answer.found.code, str(answer.found))}
        else:
            for line in printed_lines(answer.found.printed):
                click.echo(line, err=True)
            _print_warnings(answer.found)
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


def print_trace(answer: Answer) -> None:
    if isinstance(answer.found, InterpError):
        return
    for offer, outcome in zip(answer.found.offers, answer.found.outcomes, strict=True):
        where = f"{offer.source.origin} {offer.script.name}, function {offer.function} ({offer.script.language})"
        used = f"cost {outcome.cost}, {outcome.seconds * 1e6:.0f} µs, {outcome.memory / 1024:.0f} KiB"
        click.echo(click.style(f"trace: {answer.operation}: {where}: {used}", dim=True), err=True)
    for shadowed in answer.catalog.shadowing(GroupVersionKind.of(answer.object), answer.operation):
        if shadowed not in answer.found.offers:
            click.echo(
                click.style(
                    f"trace: {answer.operation}: shadows {shadowed.source.origin} {shadowed.script.name}", dim=True
                ),
                err=True,
            )
