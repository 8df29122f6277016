"""`interp estimate`: how many replicas or sets of a workload fit."""

from __future__ import annotations

from interp.verbs.estimate.cli import command

__all__ = ["command"]
