"""What `interp schedule` may be told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from interp.scripts.sources import Sources

if TYPE_CHECKING:
    from interpreters.core.karmada.releases import Release


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What `interp schedule` was told."""

    workloads: tuple[str, ...]
    policy_files: tuple[str, ...]
    cluster_files: tuple[str, ...]
    nodes: Path | None
    estimators: tuple[str, ...]
    bindings: tuple[str, ...]
    kubeconfig: Path | None
    context: str
    observed_affinity: str | None
    reschedule: bool
    unavailable: tuple[str, ...]
    rounding: Literal["largest-remainder", "webster"]
    priority_classes: tuple[str, ...]
    gates: str
    karmada: Release | None
    cluster_scoped: bool
    sources: Sources
    output: str
