"""`interp schedule`: where workloads would go, and why not elsewhere."""

from __future__ import annotations

from interp.verbs.schedule.cli import command

__all__ = ["command"]
