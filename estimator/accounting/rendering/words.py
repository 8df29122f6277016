"""Sentences and small figures that all renderings share, so that they say the same thing."""

from __future__ import annotations

from estimator.accounting.report import AuditReport, Line, NamespaceReport

NOTHING = "-"
_BAR = 20


def headline(report: AuditReport) -> str:
    left_out = sum(report.ignored.values())
    others = f", {left_out:,} objects of other kinds left out" if left_out else ""
    return f"{number(report.bindings, 'binding')} in {number(len(report.namespaces), 'namespace')}{others}"


def namespace_line(page: NamespaceReport) -> str:
    waiting = f", {page.unscheduled:,} not scheduled" if page.unscheduled else ""
    return f"{number(page.bindings, 'binding')}{waiting}"


def what_if_line(report: AuditReport) -> str:
    if report.what_if is None:
        return ""
    adds = ", ".join(f"{resource} {amount}" for resource, amount in report.what_if.adds.items()) or "nothing"
    where = number(report.what_if.clusters, "cluster")
    return f"with {report.what_if.workload} in {where}, counted as if it ran already: it adds {adds}"


def legacy_line(page: NamespaceReport) -> str:
    """The difference that accounting by component makes."""
    parts = [
        f"{resource} {page.legacy[resource]} instead of {page.used.get(resource, '0')} ({over} too much)"
        for resource, over in page.overcharge.items()
    ]
    return f"charged by the largest pod it would be {', '.join(parts)}" if parts else ""


def findings_line(report: AuditReport) -> str:
    if not report.findings:
        return "no findings"
    counts: dict[str, int] = {}
    for found in report.findings:
        counts[found.code] = report.counts[found.code]
    return "findings: " + ", ".join(f"{count:,} {code}" for code, count in counts.items())


def not_listed(report: AuditReport) -> dict[str, int]:
    """How many findings of each kind are counted but not listed."""
    listed: dict[str, int] = {}
    for found in report.findings:
        listed[found.code] = listed.get(found.code, 0) + 1
    return {code: count - listed.get(code, 0) for code, count in report.counts.items() if count > listed.get(code, 0)}


def percent(share: float | None) -> str:
    return NOTHING if share is None else f"{share:.0%}"


def bar(share: float | None) -> str:
    if share is None:
        return ""
    filled = min(_BAR, round(share * _BAR))
    return "█" * filled + "░" * (_BAR - filled)


def is_over(line: Line) -> bool:
    return line.used is not None and (line.share is None or line.share > 1)


def number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
