"""What `interp doctor` may be told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What `interp doctor` was told."""

    url: str
    authorities: str | None
    timeout: int
    scripts: tuple[str, ...]
    bundled_language: str
    kubeconfig: Path | None
    samples: tuple[Path, ...]
    kube_context: str
    everything: bool
    output: str
