"""The report as tables: CSV for spreadsheets and scripts, Markdown for tickets and chats."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

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
    number,
    origin_line,
    percent,
    share_of,
    shown,
    state_lines,
    what_if_lines,
)
from estimator.accounting.audit.report import AuditReport, NamespaceReport
from estimator.accounting.readable import plain_number, unit_of
from estimator.accounting.spreadsheets import harmless
from estimator.quotas.amounts import nano_of

COLUMNS = (
    "record", "namespace", "object", "cluster", "key", "unit", "limit", "used", "provisional", "reported", "drift",
    "share", "legacy", "code", "severity", "evidence", "advice",
)  # fmt: skip


_TEXTS = ("namespace", "object", "cluster", "key", "evidence", "advice")


def render_csv(report: AuditReport) -> str:
    """One row per used resource, quota line, heavy workload and finding; `record` tells them apart.

    NanoAmounts are plain numbers in the row's `unit`: cores, bytes or a count."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {name: harmless(str(cell)) if name in _TEXTS else cell for name, cell in row.items()} for row in _rows(report)
    )
    return text.getvalue()


def _rows(report: AuditReport) -> Iterator[dict[str, Any]]:
    for page in report.namespaces:
        about = {"namespace": page.namespace}
        for resource, amount in page.used.items():
            legacy = page.legacy.get(resource)
            yield {"record": "used", **about, **_amounts(resource, used=amount, legacy=legacy)}
        for quota in page.quotas:
            name = f"{quota.kind}/{quota.name}"
            for line in quota.lines:
                amounts = _amounts(
                    line.key, limit=line.limit, used=line.used, provisional=line.provisional, reported=line.reported,
                    drift=line.drift, legacy=line.legacy,
                )  # fmt: skip
                yield {
                    "record": "quota", **about, "object": name, "cluster": quota.cluster, **amounts,
                    "share": line.share, "evidence": line.why,
                }  # fmt: skip
        for state in page.states:
            for resource, amount in state.amounts.items():
                yield {
                    "record": state.state,
                    **about,
                    **_amounts(resource, used=amount),
                    "evidence": number(state.bindings, "binding"),
                }
        for record, tops in (("workload", page.workloads), ("component", page.components)):
            for top in tops:
                name = f"{top.workload} {top.component}".strip()
                yield {
                    "record": record, **about, "object": name, **_amounts(top.resource, used=top.used),
                    "share": top.share,
                }  # fmt: skip
    for effect in report.what_if.effects if report.what_if is not None else ():
        amounts = _amounts(effect.key, limit=effect.limit, used=effect.used)
        yield {"record": "what-if", "object": effect.quota, **amounts, "evidence": effect.verdict}
    for found in report.findings:
        yield {
            "record": "finding", "object": found.object, "code": found.code, "severity": found.severity,
            "evidence": found.evidence, "advice": found.advice,
        }  # fmt: skip


def _amounts(key: str, **texts: str | None) -> dict[str, Any]:
    numbers = {name: plain_number(key, nano_of(text)) for name, text in texts.items() if text is not None}
    return {"key": key, "unit": unit_of(key), **numbers}


def render_markdown(report: AuditReport) -> str:
    return "\n".join(_markdown(report)) + "\n"


def _markdown(report: AuditReport) -> Iterator[str]:
    yield "# Quota audit\n"
    yield f"{headline(report)}."
    if origin := origin_line(report):
        yield f"\n{_cell(origin)}."
    if what_if := what_if_lines(report):
        yield "\n## What if\n"
        yield from (f"- {_cell(line)}" for line in what_if)
    yield "\n## Findings\n"
    yield f"{findings_line(report)}."
    if report.findings:
        yield "\n| severity | finding | object | evidence | what to do |\n|---|---|---|---|---|"
        for found in report.findings:
            cells = (found.severity, found.code, found.object, found.evidence, found.advice)
            yield f"| {' | '.join(map(_cell, cells))} |"
        for code, count in not_listed(report).items():
            yield f"\n{not_listed_line(code, count).capitalize()}."
    for page in report.namespaces:
        yield from _markdown_namespace(page)


def _markdown_namespace(page: NamespaceReport) -> Iterator[str]:
    yield f"\n## {_cell(page.namespace or '(cluster-scoped)')}\n"
    yield f"{namespace_line(page)}."
    for quota in page.quotas:
        yield f"\n### {_cell(quota.title)}\n"
        yield "| key | limit | used | reported | drift | share |\n|---|--:|--:|--:|--:|---|"
        for line in quota.lines:
            share = f"{bar(line.share)} {share_of(line)}".strip() if line.used is not None else line.why
            yield f"| {' | '.join(map(_cell, (line.key, *figures(line), share)))} |"
    if not page.quotas:
        yield f"\nNo quota; used: {_cell(amounts_line(page.used))}."
    if legacy := legacy_line(page):
        yield f"\n{legacy}."
    yield from (f"\n{_cell(line)}." for line in state_lines(page))
    for title, tops in (("Heaviest workloads", page.workloads), ("Heaviest components", page.components)):
        if tops:
            yield f"\n{title}\n\n| resource | what | used | share |\n|---|---|--:|--:|"
            for top in tops:
                what = f"{top.workload} {top.component}".strip()
                cells = (top.resource, what, shown(top.resource, top.used), percent(top.share))
                yield f"| {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())
