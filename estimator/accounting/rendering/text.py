"""The report as text for a terminal: quotas with bars, the heaviest workloads, and every finding with what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from estimator.accounting.rendering.words import (
    NOTHING,
    bar,
    findings_line,
    headline,
    legacy_line,
    namespace_line,
    not_listed,
    percent,
    what_if_line,
)
from estimator.accounting.report import AuditReport, NamespaceReport, QuotaReport, Top

_HEADER = ("key", "limit", "used", "reported", "drift", "share")


def render_text(report: AuditReport) -> str:
    return "\n".join(_printable(line) for line in _lines(report)) + "\n"


def _lines(report: AuditReport) -> Iterator[str]:
    yield f"audited {headline(report)}"
    if what_if := what_if_line(report):
        yield what_if
    for page in report.namespaces:
        yield ""
        yield from _namespace(page)
    yield ""
    yield findings_line(report)
    for found in report.findings:
        yield f"  {found.severity:7}  {found.code}: {found.object}"
        yield f"           {found.evidence}"
        yield f"           → {found.advice}"
    for code, count in not_listed(report).items():
        yield f"  and {count:,} more of {code}"


def _namespace(page: NamespaceReport) -> Iterator[str]:
    yield f"{page.namespace or '(cluster-scoped)'}: {namespace_line(page)}"
    for quota in page.quotas:
        yield f"  {quota.title}"
        yield from (f"    {row}" for row in _table(quota))
    if not page.quotas:
        used = ", ".join(f"{resource} {amount}" for resource, amount in page.used.items())
        yield f"  no quota; used: {used or 'nothing'}"
    if legacy := legacy_line(page):
        yield f"  {legacy}"
    yield from _tops("heaviest workloads", page.workloads)
    yield from _tops("heaviest components", page.components)


def _table(quota: QuotaReport) -> Iterator[str]:
    rows = [_HEADER]
    for line in quota.lines:
        share = f"{bar(line.share)} {percent(line.share)}" if line.used is not None else line.why
        rows.append(
            (line.key, line.limit, line.used or NOTHING, line.reported or NOTHING, line.drift or NOTHING, share)
        )
    return _aligned(rows)


def _tops(title: str, tops: Sequence[Top]) -> Iterator[str]:
    if tops:
        yield f"  {title}"
        rows = [(top.resource, f"{top.workload} {top.component}".strip(), top.used, percent(top.share)) for top in tops]
        yield from (f"    {row}" for row in _aligned(rows))


def _aligned(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _printable(line: str) -> str:
    """Names come from clusters: none of them may steer the reader's terminal."""
    return "".join(character if character.isprintable() else "?" for character in line)
