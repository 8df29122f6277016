"""What `interp register` may be told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from interpreters.core.karmada.releases import Release


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What `interp register` was told."""

    # the webhook
    url: str | None
    service: str | None
    path: str | None
    authorities: Path | None
    name: str | None
    timeout: int
    # what is registered of it
    kinds: tuple[str, ...]
    operations: str | None
    everything: bool
    divide: tuple[str, ...]
    count: tuple[str, ...]
    scripts: tuple[str, ...]
    bundled_language: str | None
    config: str | None
    samples: tuple[Path, ...]
    # admission
    admission: bool
    admission_port: int | None
    failure_policy: Literal["Ignore", "Fail"] | None
    labels: tuple[str, ...]
    exempt: tuple[str, ...]
    # the Karmada API server
    applies: bool
    yes: bool
    touches: bool
    removes: bool
    kubeconfig: Path | None
    kube_context: str
    gates: str
    karmada: Release | None
    output: str
