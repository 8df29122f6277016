"""`interp doctor`: look at a running webhook as Karmada does."""

from __future__ import annotations

from interp.verbs.doctor.cli import command

__all__ = ["command"]
