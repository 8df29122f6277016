"""Answers for people: what changes as a diff, everything else as YAML."""

from __future__ import annotations

import click

from interp.output.diff import diff_lines
from interp.output.yaml import to_yaml
from interp.verbs.run.answers import Answer, Answers
from interp.verbs.run.formats.asides import print_answer_error, print_printed, print_warnings
from interpreters.core.errors import InterpError
from interpreters.core.patch import apply
from interpreters.core.wire import response_fields


def print_answers(answers: Answers) -> None:
    for answer in answers.each:
        _print(answer, single=len(answers.each) == 1)


def _print(answer: Answer, *, single: bool) -> None:
    if not single:
        metadata = answer.object.get("metadata") or {}
        name = "/".join(str(metadata[key]) for key in ("namespace", "name") if metadata.get(key))
        title = click.style(str(answer.operation), bold=True)
        click.echo(f"{title}  {answer.object.get('kind')} {name}".rstrip())
    if isinstance(answer.found, InterpError):
        print_answer_error(answer, answer.found)
        if not single:
            click.echo("")
        return
    reply = answer.found.reply
    print_printed(answer.found)
    if reply.patch:
        # The returned object itself may have its fields in another order, which is no change.
        click.echo("\n".join(diff_lines(answer.object, apply(answer.object, reply.patch))))
    elif reply.patch is not None:
        click.echo(click.style("no change", dim=True))
    else:
        click.echo(to_yaml(response_fields(reply)), nl=False)
    print_warnings(answer.found)
    if not single:
        click.echo("")
