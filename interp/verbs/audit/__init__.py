"""`interp audit`: what workloads really cost their quotas."""

from __future__ import annotations

from interp.verbs.audit.options import command

__all__ = ["command"]
