"""`interp lint`: find mistakes in scripts and policies."""

from __future__ import annotations

from interp.verbs.lint.cli import command

__all__ = ["command"]
