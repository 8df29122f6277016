"""ResourceQuota: what a namespace may still take, and which pods a quota counts.

Free is hard - used from the quota's *status*, never below zero; `requests.cpu` and `cpu` are the same thing, and the
smaller one counts when a quota has both. `limits.*`, storage and object counts say nothing of a pod template's requests
and are left aside. Scopes are ANDed, as in Kubernetes; one that a pod template cannot decide is reported, not guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from interpreters.core.quantity import Quantity


@dataclass(frozen=True, slots=True)
class ScopeSelector:
    scope: str
    operator: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Quota:
    """A ResourceQuota object as far as estimates care."""

    namespace: str
    name: str
    free: Mapping[str, Quantity]
    selectors: tuple[ScopeSelector, ...] = ()

    @staticmethod
    def of(quota: Mapping[str, Any]) -> Quota:
        """Read a Kubernetes ResourceQuota object."""
        raise NotImplementedError
