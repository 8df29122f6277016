"""`interp list`: which script answers for which kind and operation."""

from __future__ import annotations

from interp.verbs.list.cli import command

__all__ = ["command"]
