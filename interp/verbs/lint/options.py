"""What `interp lint` may be told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from interpreters.core.karmada.releases import Release


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What `interp lint` was told."""

    paths: tuple[Path, ...]
    bundled: bool
    portable: bool
    clusters: tuple[str, ...]
    karmada: Release
    output: str
