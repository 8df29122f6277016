"""What is said on standard error beside an answer: what the script printed, warnings and errors."""

from __future__ import annotations

import click

from interp.output.messages import print_warning
from interp.output.script_errors import error_text, printed_lines
from interp.verbs.run.answers import Answer
from interpreters.core.errors import InterpError
from interpreters.core.kinds import GroupVersionKind
from interpreters.interpretation import Interpretation


def print_printed(found: Interpretation) -> None:
    for line in printed_lines(found.printed):
        click.echo(line, err=True)


def print_warnings(found: Interpretation) -> None:
    for warning in (*found.reply.warnings, *found.lost):
        print_warning(warning)


def print_answer_error(answer: Answer, error: InterpError) -> None:
    kind = GroupVersionKind.of(answer.object)
    broken = answer.catalog.in_the_way(kind, answer.operation)
    offers = answer.catalog.shadowing(kind, answer.operation)
    asked = broken.script if broken else offers[0].script if offers else None
    click.echo(error_text(error, asked), err=True)
