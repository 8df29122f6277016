"""`interp cost`: what workloads cost in money."""

from __future__ import annotations

from interp.verbs.cost.cli import command

__all__ = ["command"]
