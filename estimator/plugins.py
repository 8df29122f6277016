"""The plugins every cluster has: its nodes, and its quotas."""

from __future__ import annotations

from estimator.framework import Plugin
from estimator.method import WHOLE_SETS, Method


def default_plugins(method: Method = WHOLE_SETS, *, quotas: bool = True) -> list[Plugin]:
    """Nodes, quotas (unless switched off), and what installed packages add."""
    raise NotImplementedError
