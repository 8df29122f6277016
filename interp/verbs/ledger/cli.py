"""`interp ledger`: what is charged to whom; show it, export it, and reconcile it with the bindings there are."""

from __future__ import annotations

import click

from interp.verbs.ledger.export import export
from interp.verbs.ledger.history import history
from interp.verbs.ledger.reconcile import reconcile
from interp.verbs.ledger.show import show


@click.group("ledger", short_help="what is charged to whom")
def command() -> None:
    """What is charged to whom. URL is an SQLite file or postgresql://user@host/name."""


for _verb in (export, history, reconcile, show):
    command.add_command(_verb)
