"""The details: each namespace with its quotas, what it uses in each cluster, and its heaviest workloads, folded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final
from xml.etree.ElementTree import Element

from estimator.accounting.audit.assembly import rank
from estimator.accounting.audit.rendering.html.charts import small_bar
from estimator.accounting.audit.rendering.html.elements import element, folded, row, table
from estimator.accounting.audit.rendering.html.overview import exactly, line_bar, share_cell
from estimator.accounting.audit.rendering.words import (
    NOTHING,
    figures,
    legacy_line,
    namespace_line,
    percent,
    share_of,
    shown,
    state_lines,
    weight,
)
from estimator.accounting.audit.report import AuditReport, Line, NamespaceReport, QuotaReport, Top

_MOST_OPEN: Final = 3
_MOST_PRINTED: Final = 20  # a larger estate is printed as a list; what was unfolded by hand comes with it
_MOST_COLUMNS: Final = 6


def namespaces(report: AuditReport) -> Iterator[Element]:
    if report.namespaces:
        yield element("h2", "Details")
    for page in report.namespaces:
        count = len(report.namespaces)
        yield _namespace(page, is_open=count <= _MOST_OPEN, is_printed=count <= _MOST_PRINTED)


def _namespace(page: NamespaceReport, *, is_open: bool, is_printed: bool) -> Element:
    content: list[Element] = [_quota(quota) for quota in page.quotas]
    if not page.quotas:
        content += [element("h3", "No quota; used"), _used(page)]
    if legacy := legacy_line(page):
        content.append(element("p", f"{legacy[0].upper()}{legacy[1:]}."))
    content += [element("p", f"{line[0].upper()}{line[1:]}.") for line in state_lines(page)]
    content += _clusters(page)
    content += _tops("Heaviest workloads", page.workloads)
    content += _tops("Heaviest components", page.components)
    summary = (element("b", page.namespace or "(cluster-scoped)"), element("span", namespace_line(page), class_="dim"),
               *_fullest(page))  # fmt: skip
    return folded(summary, *content, is_open=is_open, is_printed=is_printed)


def _fullest(page: NamespaceReport) -> Iterator[Element]:
    if page.namespace and not page.quotas:
        yield element("span", "no quota", class_="word near")
    lines = [line for quota in page.quotas for line in quota.lines if line.used is not None]
    if lines:
        fullest = max(lines, key=lambda line: (weight(line) == "over", line.share is None, line.share or 0))
        yield small_bar(line_bar(fullest))
        yield element("span", f"{fullest.key} {share_of(fullest)}", class_=f"word {weight(fullest)}")


def _quota(quota: QuotaReport) -> Element:
    provisional = any(line.provisional is not None for line in quota.lines)
    header = ("key", "limit", "used", *(("of it provisional",) if provisional else ()), "reported", "drift", "share")
    numbers = range(1, len(header) - 1)
    rows = [_line(line, provisional, numbers) for line in quota.lines]
    return element("section", element("h3", quota.title), table(header, rows, numbers))


def _line(line: Line, provisional: bool, numbers: range) -> Element:
    limit, used, reported, drift = figures(line)
    promised = (shown(line.key, line.provisional),) if provisional else ()
    texts = (line.limit, line.used, *((line.provisional,) if provisional else ()), line.reported, line.drift)
    exact = {place: exactly(line.key, text) for place, text in enumerate(texts, 1) if text}
    made = row(line.key, limit, used, *promised, reported, drift, numbers=numbers, exact=exact, class_=weight(line))
    made.append(element("td", share_cell(line), class_="share" if line.used is not None else None))
    return made


def _used(page: NamespaceReport) -> Element:
    rows = [
        row(name, shown(name, text), numbers=[1], exact={1: exactly(name, text)}) for name, text in page.used.items()
    ]
    return table(("resource", "used"), rows, [1])


def _clusters(page: NamespaceReport) -> Iterator[Element]:
    resources = sorted({name for used in page.clusters.values() for name in used}, key=rank)[:_MOST_COLUMNS]
    if not resources:
        return
    numbers = range(1, len(resources) + 1)
    rows = [
        row(cluster, *(shown(name, used[name]) if name in used else NOTHING for name in resources), numbers=numbers)
        for cluster, used in page.clusters.items()
    ]
    yield folded((f"Used in each cluster ({len(rows):,})",), table(("cluster", *resources), rows, numbers))


def _tops(title: str, tops: Sequence[Top]) -> Iterator[Element]:
    if tops:
        rows = [
            row(f"{top.workload} {top.component}".strip(), top.resource, shown(top.resource, top.used),
                percent(top.share), numbers=(2, 3), exact={2: exactly(top.resource, top.used)})
            for top in tops
        ]  # fmt: skip
        yield folded((title,), table(("what", "resource", "used", "of the namespace"), rows, (2, 3)))
