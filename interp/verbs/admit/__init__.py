"""`interp admit`: what the admission of a running server would say to manifests."""

from __future__ import annotations

from interp.verbs.admit.cli import command

__all__ = ["command"]
