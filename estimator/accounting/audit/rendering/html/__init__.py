"""The report as one HTML page: no script, no font, no picture from elsewhere; it reads on a screen and prints."""

from __future__ import annotations

from importlib.resources import files
from xml.etree.ElementTree import Element

from estimator.accounting.audit.rendering.html.elements import element, written
from estimator.accounting.audit.rendering.html.findings import findings
from estimator.accounting.audit.rendering.html.history import history
from estimator.accounting.audit.rendering.html.namespaces import namespaces
from estimator.accounting.audit.rendering.html.overview import overview
from estimator.accounting.audit.report import AuditReport


def render_html(report: AuditReport) -> str:
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", _title(report)),
    )
    style = Element("style")
    style.text = files(__package__).joinpath("style.css").read_text(encoding="utf-8")
    head.append(style)
    body = element("body", *overview(report), *findings(report), *history(report), *namespaces(report))
    return written(element("html", head, body, lang="en"))


def _title(report: AuditReport) -> str:
    return f"Quota audit {report.origin.at[:10]}".strip()
