"""What `interp estimate` may be told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from interp.scripts.sources import Sources


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What `interp estimate` was told."""

    workloads: tuple[str, ...]
    nodes: tuple[Path, ...]
    pods: tuple[Path, ...]
    quotas: tuple[Path, ...]
    clusters: tuple[str, ...]
    kubeconfig: Path | None
    contexts: tuple[str, ...]
    timeout: float
    method: str
    size: str
    node_order: str
    replicas: bool
    no_quotas: bool
    no_models: bool
    lenient: bool
    with_reasons: bool
    sources: Sources
    output: str
