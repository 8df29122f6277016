"""The top of the page: when and of what, the estate in figures, and one chart of all quotas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final
from xml.etree.ElementTree import Element

from estimator.accounting.audit.findings import RULES
from estimator.accounting.audit.rendering.html.charts import Bar, quota_bars, quota_columns, small_bar
from estimator.accounting.audit.rendering.html.elements import element, row, table
from estimator.accounting.audit.rendering.words import headline, number, percent, share_of, shown, weight, what_if_lines
from estimator.accounting.audit.report import AuditReport, Line, ResourceTotal
from estimator.accounting.readable import plain_number, unit_of
from estimator.quotas.amounts import nano_of

_MOST_BARS: Final = 30
_FULLEST: Final = 20  # of more than fit as bars
_MOST_RESOURCES: Final = 12


def overview(report: AuditReport) -> Iterator[Element]:
    origin = report.origin
    facts = [
        ("Date", _date(origin.at)),
        ("Source", origin.source),
        ("Quotas", origin.quotas),
        ("Karmada", origin.karmada),
        ("Read", headline(report)),
        ("Made by", f"interp {origin.interp}" if origin.interp else ""),
    ]
    pairs = [element(tag, text) for name, value in facts if value for tag, text in (("dt", name), ("dd", value))]
    yield element("header", element("h1", "Quota audit"), element("dl", *pairs, class_="facts"))
    if what_if := what_if_lines(report):
        yield element("h2", "What if")
        yield element("ul", *(element("li", line) for line in what_if))
    yield _tiles(report)
    yield from _resources(report.totals.resources)
    yield from _mirror(report)


def _tiles(report: AuditReport) -> Element:
    totals = report.totals
    unlimited = sum(not page.quotas for page in report.namespaces if page.namespace)
    counts = dict.fromkeys(("error", "drift", "warning"), 0)
    for code, count in report.counts.items():
        counts[RULES[code].severity] += count
    words = (
        f"{count:,} drift" if severity == "drift" else number(count, severity) for severity, count in counts.items()
    )
    return element(
        "div",
        _tile(totals.namespaces, "namespaces"),
        _tile(totals.quotas, f"quotas; {number(unlimited, 'namespace')} without" if unlimited else "quotas"),
        _tile(totals.keys_over, "keys over their limit", "over" if totals.keys_over else ""),
        _tile(totals.keys_near, "keys near it", "near" if totals.keys_near else ""),
        _tile(totals.bindings, f"bindings, {totals.unscheduled:,} not scheduled" if totals.unscheduled else "bindings"),
        _tile(sum(counts.values()), f"findings: {', '.join(words)}"),
        class_="tiles",
    )


def _tile(count: int, words: str, class_: str = "") -> Element:
    return element("div", element("b", f"{count:,}"), element("span", words), class_=f"tile {class_}".strip())


def _resources(resources: Sequence[ResourceTotal]) -> Iterator[Element]:
    if not resources:
        return
    provisional = any(total.provisional is not None for total in resources)
    header = (
        ["resource", "used"] + ["of it provisional"] * provisional + ["used under a quota", "limit of quotas", "share"]
    )
    numbers = range(1, len(header) - 1)
    rows = []
    for total in resources[:_MOST_RESOURCES]:
        amounts = [total.used, *([total.provisional] if provisional else []), total.limited if total.limit else None,
                   total.limit]  # fmt: skip
        cells = [shown(total.resource, amount) for amount in amounts]
        exact = {place: exactly(total.resource, amount) for place, amount in enumerate(amounts, 1) if amount}
        rows.append(row(total.resource, *cells, percent(total.share), numbers=[*numbers, len(header) - 1], exact=exact))
    yield table(header, rows, [*numbers, len(header) - 1])
    if len(resources) > _MOST_RESOURCES:
        more = len(resources) - _MOST_RESOURCES
        yield element("p", f"and {number(more, 'resource')} more; -o csv and -o json list all of them", class_="dim")


def _mirror(report: AuditReport) -> Iterator[Element]:
    yield element("h2", "All quotas")
    bars = all_bars(report)
    if not bars:
        yield element("p", "No quota was given, or none that bindings can be compared with.", class_="dim")
        return
    words = "The line is the limit."
    if any(bar.provisional for bar in bars):
        words += " The light part is provisional: admitted, and not there yet."
    if len(bars) > _MOST_BARS:
        caption = element("figcaption", f"Each of {len(bars):,} keys of quotas, the fullest first. {words}")
        yield element("figure", element("div", quota_columns(bars), class_="scroll"), caption)
        bars, words = bars[:_FULLEST], f"The {_FULLEST} fullest."
    yield element("figure", element("div", quota_bars(bars), class_="scroll"), element("figcaption", words))


def all_bars(report: AuditReport) -> list[Bar]:
    """Every key that can be compared, the fullest first."""
    found = [
        line_bar(line, f"{page.namespace}/{quota.name}{f' in {quota.cluster}' if quota.cluster else ''}")
        for page in report.namespaces
        for quota in page.quotas
        for line in quota.lines
        if line.used is not None
    ]
    return sorted(found, key=lambda bar: (-bar.height, bar.label, bar.key))


def line_bar(line: Line, label: str = "") -> Bar:
    limit, promised = nano_of(line.limit), nano_of(line.provisional or "0")
    figures = f"{shown(line.key, line.used)} of {shown(line.key, line.limit)}, {share_of(line)}"
    return Bar(label, line.key, figures, weight(line), line.share, promised / limit if limit else 0.0)


def share_cell(line: Line) -> Element:
    """A bar and the share in words; or why there is none."""
    if line.used is None:
        return element("span", line.why, class_="dim")
    word = {"over": " over", "near": " near"}.get(weight(line), "")
    return element("span", small_bar(line_bar(line)), element("span", share_of(line) + word, class_="percent"))


def exactly(resource: str, text: str) -> str:
    """The amount in full, for whoever points at a rounded one."""
    unit = unit_of(resource)
    return f"{plain_number(resource, nano_of(text))} {unit if unit != 'count' else resource}"


def _date(at: str) -> str:
    if not at:
        return ""
    moment = datetime.fromisoformat(at)
    return f"{moment.day} {moment:%B %Y, %H:%M} UTC"
