"""`interp audit`: what workloads really cost their quotas."""

from __future__ import annotations

from interp.verbs.audit.cli import command

__all__ = ["command"]
