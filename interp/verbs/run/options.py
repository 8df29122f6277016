"""What `interp run` may be told."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from interp.scripts.sources import Sources


class Options(Struct, frozen=True, kw_only=True):
    """What `interp run` was told. A Struct: importing dataclasses would take longer than the rest of this module."""

    question: tuple[str, ...]
    sources: Sources
    observed: str | None
    status: str | None
    replicas: int | None
    watch: bool
    trace: bool
    output: str
    # The flags of `karmadactl interpret`, for whoever comes from there.
    files: tuple[Path, ...]
    named: str | None
    desired_file: str | None
    observed_file: str | None
    status_file: str | None
    desired_replica: int | None
    check: bool
