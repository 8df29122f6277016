"""`interp new`: start a script with cases that pass."""

from __future__ import annotations

from interp.verbs.new.cli import command

__all__ = ["command"]
