"""The report as text for a terminal: quotas with bars, the heaviest workloads, and every finding with what to do."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from estimator.accounting.audit.rendering.words import (
    amounts_line,
    bar,
    figures,
    findings_line,
    headline,
    legacy_line,
    namespace_line,
    not_listed,
    not_listed_line,
    origin_line,
    percent,
    share_of,
    shown,
    state_lines,
    what_if_lines,
)
from estimator.accounting.audit.report import AuditReport, NamespaceReport, QuotaReport, Top

_HEADER = ("key", "limit", "used", "reported", "drift")


def render_text(report: AuditReport) -> str:
    return "\n".join(_printable(line) for line in _lines(report)) + "\n"


def _lines(report: AuditReport) -> Iterator[str]:
    yield f"audited {headline(report)}"
    if origin := origin_line(report):
        yield f"from {origin}"
    yield from what_if_lines(report)
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
        yield f"  {not_listed_line(code, count)}"


def _namespace(page: NamespaceReport) -> Iterator[str]:
    yield f"{page.namespace or '(cluster-scoped)'}: {namespace_line(page)}"
    for quota in page.quotas:
        yield f"  {quota.title}"
        yield from (f"    {row}" for row in _table(quota))
    if not page.quotas:
        yield f"  no quota; used: {amounts_line(page.used)}"
    if legacy := legacy_line(page):
        yield f"  {legacy}"
    yield from (f"  {line}" for line in state_lines(page))
    yield from _tops("heaviest workloads", page.workloads)
    yield from _tops("heaviest components", page.components)


def _table(quota: QuotaReport) -> Iterator[str]:
    provisional = any(line.provisional is not None for line in quota.lines)
    rows: list[tuple[str, ...]] = [(*_HEADER, "provisional", "share") if provisional else (*_HEADER, "share")]
    for line in quota.lines:
        share = f"{bar(line.share)} {share_of(line)}".strip() if line.used is not None else line.why
        promised = (shown(line.key, line.provisional),) if provisional else ()
        rows.append((line.key, *figures(line), *promised, share))
    return _aligned(rows, numbers=range(1, len(rows[0]) - 1))


def _tops(title: str, tops: Sequence[Top]) -> Iterator[str]:
    if tops:
        yield f"  {title}"
        rows = [
            (top.resource, f"{top.workload} {top.component}".strip(), shown(top.resource, top.used), percent(top.share))
            for top in tops
        ]
        yield from (f"    {row}" for row in _aligned(rows, numbers=(2, 3)))


def _aligned(rows: Sequence[tuple[str, ...]], numbers: Container[int]) -> Iterator[str]:
    """In columns; `numbers` are those that stand at the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = (
            cell.rjust(width) if column in numbers else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()


def _printable(line: str) -> str:
    """Names come from clusters: none of them may steer the reader's terminal."""
    return "".join(character if character.isprintable() else "?" for character in line)
