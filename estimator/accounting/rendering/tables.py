"""The report as tables: CSV for spreadsheets and scripts, Markdown for tickets and chats."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

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
from estimator.accounting.report import AuditReport, NamespaceReport

COLUMNS = (
    "record", "namespace", "object", "cluster", "key", "limit", "used", "reported", "drift", "share", "legacy",
    "code", "severity", "evidence", "advice",
)  # fmt: skip


def render_csv(report: AuditReport) -> str:
    """One row per used resource, per quota line, per heavy workload and per finding; `record` tells them apart."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(_rows(report))
    return text.getvalue()


def _rows(report: AuditReport) -> Iterator[dict[str, object]]:
    for page in report.namespaces:
        about = {"namespace": page.namespace}
        for resource, amount in page.used.items():
            legacy = page.legacy.get(resource, "")
            yield {"record": "used", **about, "key": resource, "used": amount, "legacy": legacy}
        for quota in page.quotas:
            name = f"{quota.kind}/{quota.name}"
            for line in quota.lines:
                yield {
                    "record": "quota", **about, "object": name, "cluster": quota.cluster, "key": line.key,
                    "limit": line.limit, "used": line.used, "reported": line.reported, "drift": line.drift,
                    "share": line.share, "legacy": line.legacy, "evidence": line.why,
                }  # fmt: skip
        for record, tops in (("workload", page.workloads), ("component", page.components)):
            for top in tops:
                name = f"{top.workload} {top.component}".strip()
                yield {
                    "record": record, **about, "object": name, "key": top.resource, "used": top.used,
                    "share": top.share,
                }  # fmt: skip
    for found in report.findings:
        yield {
            "record": "finding", "object": found.object, "code": found.code, "severity": found.severity,
            "evidence": found.evidence, "advice": found.advice,
        }  # fmt: skip


def render_markdown(report: AuditReport) -> str:
    return "\n".join(_markdown(report)) + "\n"


def _markdown(report: AuditReport) -> Iterator[str]:
    yield "# Quota audit\n"
    yield f"{headline(report)}."
    if what_if := what_if_line(report):
        yield f"\n{_cell(what_if)}."
    yield "\n## Findings\n"
    yield f"{findings_line(report)}."
    if report.findings:
        yield "\n| severity | finding | object | evidence | what to do |\n|---|---|---|---|---|"
        for found in report.findings:
            cells = (found.severity, found.code, found.object, found.evidence, found.advice)
            yield f"| {' | '.join(map(_cell, cells))} |"
        for code, count in not_listed(report).items():
            yield f"\nAnd {count:,} more of {code}."
    for page in report.namespaces:
        yield from _markdown_namespace(page)


def _markdown_namespace(page: NamespaceReport) -> Iterator[str]:
    yield f"\n## {_cell(page.namespace or '(cluster-scoped)')}\n"
    yield f"{namespace_line(page)}."
    for quota in page.quotas:
        yield f"\n### {_cell(quota.title)}\n"
        yield "| key | limit | used | reported | drift | share |\n|---|--:|--:|--:|--:|---|"
        for line in quota.lines:
            share = f"{bar(line.share)} {percent(line.share)}" if line.used is not None else line.why
            cells = (line.key, line.limit, line.used, line.reported, line.drift, share)
            yield f"| {' | '.join(_cell(cell or NOTHING) for cell in cells)} |"
    if not page.quotas:
        used = ", ".join(f"{resource} {amount}" for resource, amount in page.used.items())
        yield f"\nNo quota; used: {used or 'nothing'}."
    if legacy := legacy_line(page):
        yield f"\n{legacy}."
    for title, tops in (("Heaviest workloads", page.workloads), ("Heaviest components", page.components)):
        if tops:
            yield f"\n{title}\n\n| resource | what | used | share |\n|---|---|--:|--:|"
            for top in tops:
                what = f"{top.workload} {top.component}".strip()
                yield f"| {' | '.join(map(_cell, (top.resource, what, top.used, percent(top.share))))} |"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())
