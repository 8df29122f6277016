"""What needs action: the findings, kind by kind and the gravest first, folded so that one page stays one page."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Final
from xml.etree.ElementTree import Element

from estimator.accounting.audit.findings import Finding
from estimator.accounting.audit.rendering.html.elements import element, folded, row, table
from estimator.accounting.audit.rendering.words import not_listed, not_listed_line
from estimator.accounting.audit.report import AuditReport

_MOST_OPEN: Final = 10
_MOST_LISTED: Final = 200
_MOST_PRINTED: Final = 40


def findings(report: AuditReport) -> Iterator[Element]:
    yield element("h2", "What needs action")
    if not report.findings:
        yield element("p", "Nothing: there are no findings.", class_="good")
        return
    hidden = not_listed(report)
    for code, group in groupby(report.findings, key=lambda found: found.code):
        every = list(group)
        more = hidden.get(code, 0) + max(0, len(every) - _MOST_LISTED)
        yield _group(every[:_MOST_LISTED], report.counts[code], more)


def _group(group: list[Finding], count: int, more: int) -> Element:
    first = group[0]
    advices = {found.advice for found in group}
    header = ("object", "evidence") if len(advices) == 1 else ("object", "evidence", "what to do")
    rows = [
        row(found.object, found.evidence, *((found.advice,) if len(advices) > 1 else ()), class_=found.severity)
        for found in group
    ]
    summary = (
        element("span", first.severity, class_=f"tag {first.severity}"),
        element("b", f"{count:,} × {first.code}"),  # noqa: RUF001
        element("span", first.advice if len(advices) == 1 else "", class_="dim"),
    )
    rest = element("p", not_listed_line(first.code, more), class_="dim") if more else None
    is_open = first.severity == "error" and count <= _MOST_OPEN
    return folded(summary, table(header, rows), rest, is_open=is_open, is_printed=len(group) <= _MOST_PRINTED)
