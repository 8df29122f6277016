"""What `interp test` may be told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What `interp test` was told."""

    paths: tuple[Path, ...]
    bundled: bool
    keyword: str
    exitfirst: bool
    jobs: int
    update: bool
    fuzz: bool
    verbose: bool
    max_cost: int | None
    coverage: Literal["table", "listing"] | None
    output: str
