"""What `interp audit` may be told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from interp.scripts.sources import Sources

if TYPE_CHECKING:
    from interpreters.core.karmada.releases import Release

_COMPLETE: Final = ("json", "csv")
"""Formats that list every finding; the others are for people, and list the first of each kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What `interp audit` was told."""

    bindings: tuple[str, ...]
    quotas: tuple[str, ...]
    workloads: tuple[str, ...]
    kubeconfig: str | None
    context: str
    ledger: str | None
    extra: tuple[str, ...]
    clusters: int | None
    near: float
    top: int
    fail_on: str
    karmada: Release | None
    sources: Sources
    output: str

    @property
    def wants_every_finding(self) -> bool:
        return self.output in _COMPLETE
