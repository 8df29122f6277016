"""The table of metrics in docs/metrics.md."""

from __future__ import annotations

from pathlib import Path

from prometheus_client import Counter, Gauge, Histogram

from tests.published.parts import DOCS, with_part
from webhook.server.metrics import Metrics

PAGE = DOCS / "metrics.md"


def pages() -> dict[Path, str]:
    declared = [found for found in vars(Metrics()).values() if isinstance(found, Counter | Gauge | Histogram)]
    rows = [f"| `{_name(metric)}` | {metric._documentation.removesuffix('.')} |" for metric in declared]
    return {PAGE: with_part(PAGE, "metrics", "\n".join(["| metric | meaning |", "|---|---|", *rows]))}


def _name(metric: Counter | Gauge | Histogram) -> str:
    labels = f"{{{','.join(metric._labelnames)}}}" if metric._labelnames else ""
    return f"{metric._name}{'_total' if isinstance(metric, Counter) else ''}{labels}"
