"""What `interp cost` may be told."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What `interp cost` was told."""

    prices: str
    bindings: str | None
    snapshots: list[tuple[int, str]]
    kubeconfig: str | None
    context: str
    ledger: str | None
    workloads: tuple[str, ...]
    start: int | None
    end: int | None
    by: str
    output: str
