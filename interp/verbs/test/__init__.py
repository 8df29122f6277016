"""`interp test`: run the case tables of scripts."""

from __future__ import annotations

from interp.verbs.test.cli import command

__all__ = ["command"]
