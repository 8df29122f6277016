"""The audit's report for people and other programs: text, CSV, Markdown and one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from estimator.accounting.audit.rendering.html import render_html
from estimator.accounting.audit.rendering.tables import render_csv, render_markdown
from estimator.accounting.audit.rendering.text import render_text
from estimator.accounting.audit.report import AuditReport

RENDERERS: Final[dict[str, Callable[[AuditReport], str]]] = {
    "text": render_text,
    "csv": render_csv,
    "markdown": render_markdown,
    "html": render_html,
}
