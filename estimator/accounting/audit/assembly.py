"""From a tally and quotas to an audit's report: namespace by namespace, and the estate's totals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from estimator.accounting.audit.findings import Findings
from estimator.accounting.audit.quota_lines import Pages, quota_reports
from estimator.accounting.audit.report import (
    AuditReport,
    NamespaceReport,
    Origin,
    ResourceTotal,
    StateLine,
    Top,
    Totals,
    WhatIf,
)
from estimator.accounting.audit.states import STATES
from estimator.accounting.audit.totals import Entry, NamespaceTally, Tally
from estimator.accounting.audit.what_if import Changes, Outlook, applied, effects, with_changed
from estimator.accounting.history.rendering import QuotaHistory
from estimator.quotas.amounts import NanoAmounts, add, nano_of, no_amounts, quantity, texts, without_zeros
from estimator.quotas.keys import read_key
from estimator.quotas.objects import Quota
from interpreters.core.resources import PODS

NEAR = 0.9


def build_report(
    tally: Tally,
    quotas: Iterable[Quota],
    *,
    what_if: Changes | None = None,
    near: float = NEAR,
    origin: Origin | None = None,
    history: Sequence[QuotaHistory] = (),
) -> AuditReport:
    """Compare what was counted with the quotas. `what_if` is counted first, as if it were there already."""
    known = list(quotas)
    actual, told = Outlook(tally.namespaces, tally.contributions, []), None
    if what_if is not None:
        actual = applied(tally, what_if)
        before = _namespaces(actual.actual, actual, known, Findings(0), near)
        known = with_changed(known, what_if.quotas)
    findings = Findings(tally.findings.most)
    findings.merge(tally.findings)
    namespaces = _namespaces(tally.namespaces, actual, known, findings, near)
    if what_if is not None:
        told = WhatIf(actual.changes, [str(quota) for quota in what_if.quotas], list(effects(before, namespaces)))
    return AuditReport(
        origin=origin or Origin(),
        totals=_totals(tally.namespaces, namespaces, near),
        bindings=tally.bindings,
        ignored=dict(sorted(tally.ignored.items())),
        namespaces=namespaces,
        findings=findings.listed(),
        counts=dict(sorted(findings.counts.items())),
        what_if=told,
        history=list(history),
    )


def _namespaces(
    tallies: Mapping[str, NamespaceTally],
    actual: Outlook,
    quotas: Iterable[Quota],
    findings: Findings,
    near: float,
) -> list[NamespaceReport]:
    by_namespace: dict[str, list[Quota]] = {}
    for quota in quotas:
        by_namespace.setdefault(quota.namespace, []).append(quota)
    made = []
    for name in sorted({*tallies, *by_namespace}):
        now, before = (found.get(name) or NamespaceTally() for found in (tallies, actual.actual))
        kept = actual.contributions
        contributions = None if name in kept.cut else kept.by_namespace.get(name, [])
        made.append(_namespace(name, Pages(now, before, contributions), by_namespace.get(name, []), findings, near))
    return made


def _namespace(name: str, pages: Pages, quotas: Sequence[Quota], findings: Findings, near: float) -> NamespaceReport:
    page = pages.now
    used = without_zeros(page.used)
    legacy = without_zeros(page.legacy)
    reports = [report for quota in quotas for report in quota_reports(quota, pages, findings, near)]
    return NamespaceReport(
        namespace=name,
        bindings=page.bindings,
        unscheduled=page.unscheduled,
        used=texts(used),
        legacy=texts(legacy),
        overcharge=texts(without_zeros({key: nano - used.get(key, 0) for key, nano in legacy.items()})),
        states=[
            StateLine(name, page.states[name].bindings, texts(without_zeros(page.states[name].amounts)))
            for name in STATES
            if name in page.states
        ],
        clusters={cluster: texts(without_zeros(page.by_cluster[cluster])) for cluster in sorted(page.by_cluster)},
        quotas=reports,
        workloads=_tops(page.workloads, used),
        components=_tops(page.components, used),
    )


def _totals(tallies: Mapping[str, NamespaceTally], namespaces: Sequence[NamespaceReport], near: float) -> Totals:
    used = no_amounts()
    provisional = no_amounts()
    for page in tallies.values():
        add(used, page.used)
        if page.provisional is not None:
            add(provisional, page.provisional)
    limits = no_amounts()
    limited = no_amounts()
    for namespace in namespaces:
        smallest = _smallest_limits(namespace)
        add(limits, smallest)
        add(limited, {resource: nano_of(namespace.used.get(resource, "0")) for resource in smallest})
    is_ledger = any(page.provisional is not None for page in tallies.values())
    lines = [line for namespace in namespaces for quota in namespace.quotas for line in quota.lines]
    over = sum(is_over(line.used, line.limit) for line in lines)
    resources = sorted({*without_zeros(used), *limits} - {name for name in used if name.startswith("count/")}, key=rank)
    return Totals(
        namespaces=len(namespaces),
        bindings=sum(namespace.bindings for namespace in namespaces),
        unscheduled=sum(namespace.unscheduled for namespace in namespaces),
        quotas=sum(not quota.cluster for namespace in namespaces for quota in namespace.quotas),
        keys_over=over,
        keys_near=sum((line.share or 0) >= near for line in lines if not is_over(line.used, line.limit)),
        resources=[
            ResourceTotal(
                resource=name,
                used=_spelled(name, used.get(name, 0)),
                provisional=_spelled(name, provisional.get(name, 0)) if is_ledger else None,
                limited=_spelled(name, limited.get(name, 0)),
                limit=_spelled(name, limits[name]) if name in limits else None,
                share=round(limited.get(name, 0) / limits[name], 4) if limits.get(name) else None,
            )
            for name in resources
        ],
    )


def _smallest_limits(namespace: NamespaceReport) -> NanoAmounts:
    """What the namespace may use of each resource: of several quotas without scopes that name one, the least."""
    found = no_amounts()
    for quota in namespace.quotas:
        for line in quota.lines if not quota.cluster and not quota.scoped else ():
            resource = read_key(line.key).resource
            if resource is not None and line.used is not None and not resource.startswith("count/"):
                found[resource] = min(nano_of(line.limit), found.get(resource, nano_of(line.limit)))
    return found


def is_over(used: str | None, limit: str) -> bool:
    return used is not None and nano_of(used) > nano_of(limit)


def rank(resource: str) -> tuple[int, str]:
    """cpu, memory and pods before the rarer resources."""
    return {"cpu": 0, "memory": 1, PODS: 2}.get(resource, 3), resource


def _spelled(resource: str, nano: int) -> str:
    return str(quantity(resource, nano))


def _tops(tops: dict[str, list[Entry]], used: NanoAmounts) -> list[Top]:
    """Heaviest first; cpu and memory before the rarer resources."""
    return [
        Top(resource, workload, component, _spelled(resource, nano), round(nano / (used.get(resource) or 1), 4))
        for resource in sorted(tops, key=rank)
        if resource != PODS
        for nano, workload, component in sorted(tops[resource], key=lambda entry: (-entry[0], entry[1], entry[2]))
    ]
