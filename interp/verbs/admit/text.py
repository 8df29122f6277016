"""What the server would say to each manifest, and what becomes of the quotas, as people read it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import click

from interp.output.text import counted

if TYPE_CHECKING:
    from estimator.accounting.admission.dry_run import TrialReport, TriedManifest

_COLOURS: Final = {"allowed": "green", "denied": "red", "quota": "cyan"}


def lines(report: TrialReport) -> Iterator[str]:
    from estimator.accounting.audit.rendering.words import effect_line

    width = max(len(manifest.decision) for manifest in report.manifests)
    for manifest in report.manifests:
        yield from _manifest_lines(manifest, width)
    denied = sum(manifest.decision == "denied" for manifest in report.manifests)
    tried = sum(manifest.decision in ("allowed", "denied") for manifest in report.manifests)
    yield ""
    yield f"{counted(tried, 'manifest')} of {len(report.manifests)} would be counted, {denied} denied"
    yield from map(effect_line, report.effects)


def _manifest_lines(manifest: TriedManifest, width: int) -> Iterator[str]:
    from estimator.accounting.audit.rendering.words import amounts_line

    adds = f": it adds {amounts_line(manifest.adds)}" if manifest.decision == "allowed" else ""
    decision = click.style(f"{manifest.decision:{width}}", fg=_COLOURS.get(manifest.decision))
    yield f"{decision}  {manifest.object}{adds}"
    for text in (manifest.message, *manifest.warnings):
        if text:
            yield f"{'':{width}}  {text}"
