"""Sentences and small figures that all renderings share, so that they say the same thing."""

from __future__ import annotations

from collections.abc import Mapping

from estimator.accounting.audit.assembly import is_over
from estimator.accounting.audit.report import AuditReport, Effect, Line, NamespaceReport
from estimator.accounting.audit.states import STATES
from estimator.accounting.readable import readable
from estimator.quotas.amounts import nano_of

NOTHING = "-"
_BAR = 20


def headline(report: AuditReport) -> str:
    left_out = sum(report.ignored.values())
    others = f", {left_out:,} objects of other kinds left out" if left_out else ""
    return f"{number(report.bindings, 'binding')} in {number(len(report.namespaces), 'namespace')}{others}"


def origin_line(report: AuditReport) -> str:
    origin = report.origin
    quotas = f"quotas from {origin.quotas}" if origin.quotas else ""
    karmada = f"Karmada {origin.karmada}" if origin.karmada else ""
    return ", ".join(filter(None, (origin.source, quotas, karmada, origin.at)))


def namespace_line(page: NamespaceReport) -> str:
    waiting = f", {page.unscheduled:,} not scheduled" if page.unscheduled else ""
    return f"{number(page.bindings, 'binding')}{waiting}"


def what_if_lines(report: AuditReport) -> list[str]:
    """Each change that is not made yet, and each key of a quota that it would touch."""
    if report.what_if is None:
        return []
    lines = []
    for one in report.what_if.changes:
        adds = amounts_line(one.adds, signed=one.change == "changed")
        lines.append(f"with {one.workload} ({one.change}) in {number(one.clusters, 'cluster')}: it adds {adds}")
    lines += [f"with {quota} as given" for quota in report.what_if.quotas]
    lines += map(effect_line, report.what_if.effects)
    return lines or ["with nothing that would change"]


def effect_line(effect: Effect) -> str:
    """One key of a quota, before and after."""
    old, new = (
        f"{shown(effect.key, used)} of {shown(effect.key, limit)}" if limit is not None else "no quota"
        for used, limit in ((effect.used_before, effect.limit_before), (effect.used, effect.limit))
    )
    return f"{effect.quota} {effect.key}: {old} → {new}, {effect.verdict}"


def state_lines(page: NamespaceReport) -> list[str]:
    """Bindings on their way, counted apart."""
    return [
        f"{number(line.bindings, 'binding')} {line.state} ({STATES[line.state]}): {amounts_line(line.amounts)}"
        for line in page.states
    ]


def legacy_line(page: NamespaceReport) -> str:
    """The difference that accounting by component makes."""
    parts = [
        f"{resource} {shown(resource, page.legacy[resource])} instead of "
        f"{shown(resource, page.used.get(resource, '0'))} ({shown(resource, over)} too much)"
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


def not_listed_line(code: str, count: int) -> str:
    return f"and {count:,} more of {code}; -o csv and -o json list all of them"


def shown(resource: str, text: str | None, *, signed: bool = False) -> str:
    """A quantity of the report as people read it."""
    return NOTHING if text is None else readable(resource, nano_of(text), signed=signed)


def amounts_line(amounts: Mapping[str, str], *, signed: bool = False) -> str:
    """NanoAmounts in a line; the counts of objects are left to JSON."""
    named = [
        f"{name} {shown(name, text, signed=signed)}" for name, text in amounts.items() if not name.startswith("count/")
    ]
    return ", ".join(named) or "nothing"


def figures(line: Line) -> tuple[str, str, str, str]:
    """Limit, used, reported and drift."""
    used, reported = shown(line.key, line.used), shown(line.key, line.reported)
    return shown(line.key, line.limit), used, reported, shown(line.key, line.drift, signed=True)


def percent(share: float | None) -> str:
    return NOTHING if share is None else f"{share:.0%}"


def share_of(line: Line) -> str:
    """Used of the limit; a share that is only rounded to 100% is not called that."""
    if line.used is None:
        return NOTHING
    if line.share is None:
        return "over"
    text = percent(line.share)
    if text == "100%" and nano_of(line.used) != nano_of(line.limit):
        return ">100%" if is_over(line.used, line.limit) else "<100%"
    return text


def bar(share: float | None) -> str:
    if share is None:
        return ""
    filled = min(_BAR, round(share * _BAR))
    return "█" * filled + "░" * (_BAR - filled)


def weight(line: Line, near: float = 0.9) -> str:
    if is_over(line.used, line.limit):
        return "over"
    return "near" if line.share is not None and line.share >= near and line.share else "fine"


def number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
