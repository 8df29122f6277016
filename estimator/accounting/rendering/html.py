"""The report as one HTML page: no script, no font, no picture from elsewhere; it reads on a screen and prints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from estimator.accounting.rendering.words import (
    NOTHING,
    findings_line,
    headline,
    is_over,
    legacy_line,
    namespace_line,
    not_listed,
    percent,
    what_if_line,
)
from estimator.accounting.report import AuditReport, Line, NamespaceReport, QuotaReport, Top

_STYLE = """
:root { color-scheme: light dark; --ink: #1d2433; --dim: #5d6880; --rule: #d8dee9; --paper: #fff; --soft: #f4f6fa;
        --good: #2e7d53; --near: #b7791f; --over: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9f0; --dim: #9aa5bd; --rule: #39415a; --paper: #161a24;
        --soft: #1f2533; --good: #5cc08b; --near: #e0b054; --over: #ff8a80; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto;
       max-width: 70rem; padding: 0 1.5rem; }
h1 { font-size: 1.6rem; margin-bottom: .2rem } h2 { margin-top: 2.2rem; border-bottom: 1px solid var(--rule) }
h3 { font-size: 1rem; margin: 1.2rem 0 .3rem } p { margin: .3rem 0 } .dim { color: var(--dim) }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; break-inside: auto }
th { text-align: left; font-weight: 600; color: var(--dim); font-size: .85rem } th.number { text-align: right }
td, th { padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--rule); vertical-align: top }
tr { break-inside: avoid } .number { text-align: right; white-space: nowrap }
.bar { display: inline-block; width: 9rem; height: .7rem; background: var(--soft); border: 1px solid var(--rule);
       vertical-align: middle; margin-right: .5rem; print-color-adjust: exact }
.bar span { display: block; height: 100%; background: var(--good); print-color-adjust: exact }
.near .bar span { background: var(--near) } .over .bar span { background: var(--over) }
.over .share { color: var(--over); font-weight: 600 }
.tag { font-size: .8rem; font-weight: 600; white-space: nowrap }
.error { color: var(--over) } .drift { color: var(--near) } .warning { color: var(--dim) }
.object { overflow-wrap: anywhere }
@media print { body { margin: 0; max-width: none; font-size: 11px } h2 { break-after: avoid } }
"""


def render_html(report: AuditReport) -> str:
    return "\n".join(_page(report)) + "\n"


def _page(report: AuditReport) -> Iterator[str]:
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>Quota audit</title>\n<style>{_STYLE}</style>\n</head>\n<body>"
    yield f'<h1>Quota audit</h1>\n<p class="dim">{escape(headline(report))}</p>'
    if what_if := what_if_line(report):
        yield f"<p><strong>What if:</strong> {escape(what_if)}</p>"
    yield from _findings(report)
    for page in report.namespaces:
        yield from _namespace(page)
    yield "</body>\n</html>"


def _findings(report: AuditReport) -> Iterator[str]:
    yield f'<h2>Findings</h2>\n<p class="dim">{escape(findings_line(report))}</p>'
    if not report.findings:
        return
    yield "<table>\n<tr><th>finding</th><th>object</th><th>evidence and what to do</th></tr>"
    for found in report.findings:
        yield (
            f'<tr><td><span class="tag {found.severity}">{escape(found.code)}</span></td>'
            f'<td class="object">{escape(found.object)}</td>'
            f'<td>{escape(found.evidence)}<br><span class="dim">{escape(found.advice)}</span></td></tr>'
        )
    yield "</table>"
    for code, count in not_listed(report).items():
        yield f'<p class="dim">and {count:,} more of {escape(code)}</p>'


def _namespace(page: NamespaceReport) -> Iterator[str]:
    yield f"<section>\n<h2>{escape(page.namespace or '(cluster-scoped)')}</h2>"
    yield f'<p class="dim">{escape(namespace_line(page))}</p>'
    for quota in page.quotas:
        yield from _quota(quota)
    if not page.quotas:
        yield "<h3>No quota; used</h3>"
        yield from _table(("resource", "used"), page.used.items())
    if legacy := legacy_line(page):
        yield f"<p>{escape(legacy)}</p>"
    yield from _tops("Heaviest workloads", page.workloads)
    yield from _tops("Heaviest components", page.components)
    yield "</section>"


def _quota(quota: QuotaReport) -> Iterator[str]:
    yield f"<h3>{escape(quota.title)}</h3>\n<table>"
    numbers = "".join(f'<th class="number">{name}</th>' for name in ("limit", "used", "reported", "drift"))
    yield f"<tr><th>key</th>{numbers}<th>share</th></tr>"
    for line in quota.lines:
        cells = "".join(
            f'<td class="number">{escape(cell or NOTHING)}</td>'
            for cell in (line.limit, line.used, line.reported, line.drift)
        )
        share = f'<td class="share">{_share(line)}</td>'
        yield f'<tr class="{_weight(line)}"><td>{escape(line.key)}</td>{cells}{share}</tr>'
    yield "</table>"


def _weight(line: Line) -> str:
    if is_over(line):
        return "over"
    return "near" if line.share is not None and line.share >= 0.9 else "fine"


def _share(line: Line) -> str:
    if line.used is None:
        return f'<span class="dim">{escape(line.why)}</span>'
    width = 100 if line.share is None else min(100, round(line.share * 100))
    return f'<span class="bar"><span style="width:{width}%"></span></span>{percent(line.share)}'


def _tops(title: str, tops: Sequence[Top]) -> Iterator[str]:
    if tops:
        yield f"<h3>{title}</h3>"
        rows = ((top.resource, f"{top.workload} {top.component}".strip(), top.used, percent(top.share)) for top in tops)
        yield from _table(("resource", "what", "used", "share"), rows)


def _table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    yield "<table>\n<tr>" + "".join(f"<th>{escape(name)}</th>" for name in header) + "</tr>"
    for row in rows:
        yield "<tr>" + "".join(f'<td class="object">{escape(cell)}</td>' for cell in row) + "</tr>"
    yield "</table>"
