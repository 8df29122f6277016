"""What `interp admit` may be told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What `interp admit` was told."""

    url: str
    paths: tuple[str, ...]
    authorities: str | None
    client_certificate: str | None
    client_key: str | None
    clusters: int | None
    timeout: int
    output: str
