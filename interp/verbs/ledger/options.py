"""What `interp ledger reconcile` may be told."""

from __future__ import annotations

from dataclasses import dataclass

from interp.scripts.sources import Sources


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What `interp ledger reconcile` was told."""

    url: str
    bindings: tuple[str, ...]
    kubeconfig: str | None
    context: str
    as_of: float | None
    workloads: tuple[str, ...]
    complete: bool
    dry_run: bool
    sources: Sources
