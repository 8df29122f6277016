"""`interp ledger`: what is charged to whom."""

from __future__ import annotations

from interp.verbs.ledger.cli import command

__all__ = ["command"]
