"""Findings for people: a line for each, and the sum on standard error."""

from __future__ import annotations

import click

from interp.output.text import counted
from interp.verbs.lint.findings import Linted


def print_findings(linted: Linted) -> None:
    for remark in linted.remarks:
        found = remark.finding
        rule = click.style(found.rule, fg="yellow")
        click.echo(f"{remark.file}:{found.line}:{found.column}: {rule}: {found.message}")
    for note in linted.notes:
        click.echo(f"note: {note}", err=True)
    what = [counted(linted.scripts, "script")] if linted.scripts or not linted.policies else []
    what += [counted(linted.policies, "policy", "policies")] if linted.policies else []
    summary = ", ".join([*what, counted(len(linted.remarks), "finding")])
    click.echo(click.style(summary, fg="red" if linted.remarks else "green", bold=True), err=True)
