"""`interp register`: the configuration that makes Karmada call the webhook."""

from __future__ import annotations

from interp.verbs.register.cli import command

__all__ = ["command"]
