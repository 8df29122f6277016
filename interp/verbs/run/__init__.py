"""`interp run`: ask a script about an object and show the answer."""

from __future__ import annotations

from interp.verbs.run.cli import command

__all__ = ["command"]
