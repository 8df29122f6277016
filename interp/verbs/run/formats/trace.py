"""`--trace`: which source answered, and what it took."""

from __future__ import annotations

import click

from interp.verbs.run.answers import Answer
from interpreters.core.errors import InterpError
from interpreters.core.kinds import GroupVersionKind


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
