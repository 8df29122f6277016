"""The audit's report: what each namespace and quota has, uses and says it uses. These structs are its JSON, too."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from estimator.accounting.allowances import FEDERATED, Allowance, Key, read_key
from estimator.accounting.amounts import Amounts, quantity, texts, total_of, without_zeros
from estimator.accounting.demand import Binding
from estimator.accounting.findings import Finding, Findings, finding
from estimator.accounting.tally import Entry, NamespaceTally, Tally
from estimator.accounting.usage import PODS, counted_usage
from interpreters.core.requirements import Wire

NEAR = 0.9
_LIMIT_IN_MEMBERS = "limit it by a ResourceQuota in the member clusters, or by /admit: Karmada adds up requests only"


class Line(Wire, frozen=True, omit_defaults=False):
    """One key of a quota. What cannot be known is null, and `why` says why."""

    key: str
    limit: str
    used: str | None = None
    reported: str | None = None
    drift: str | None = None
    share: float | None = None
    legacy: str | None = None
    why: str = ""


class QuotaReport(Wire, frozen=True, omit_defaults=False):
    """One quota, or the part of it that is assigned to one cluster."""

    kind: str
    namespace: str
    name: str
    cluster: str
    lines: list[Line]

    @property
    def title(self) -> str:
        where = f" in cluster {self.cluster}" if self.cluster else ""
        return f"{self.kind} {self.namespace}/{self.name}{where}"


class Top(Wire, frozen=True, omit_defaults=False):
    """A heavy workload, or a heavy component of one, and its share of what the namespace uses."""

    resource: str
    workload: str
    component: str
    used: str
    share: float


class NamespaceReport(Wire, frozen=True, omit_defaults=False):
    namespace: str
    bindings: int
    unscheduled: int
    used: dict[str, str]
    legacy: dict[str, str]
    """What the older accounting, the largest pod times all replicas, would charge."""

    overcharge: dict[str, str]
    """How much that is too much."""

    clusters: dict[str, dict[str, str]]
    quotas: list[QuotaReport]
    workloads: list[Top]
    components: list[Top]


class WhatIf(Wire, frozen=True, omit_defaults=False):
    """What one more workload would add."""

    workload: str
    clusters: int
    adds: dict[str, str]


class AuditReport(Wire, frozen=True, omit_defaults=False):
    bindings: int
    ignored: dict[str, int]
    namespaces: list[NamespaceReport]
    findings: list[Finding]
    counts: dict[str, int]
    """How many findings there are of each kind; `findings` lists at most some hundred of each."""

    what_if: WhatIf | None = None

    def has(self, *severities: str) -> bool:
        return any(found.severity in severities for found in self.findings)


def build_report(
    tally: Tally, allowances: Iterable[Allowance], *, what_if: Binding | None = None, near: float = NEAR
) -> AuditReport:
    """Compare what was counted with the quotas. `what_if` is counted first, as if it ran already."""
    adds, actual = None, tally.namespaces
    if what_if is not None:
        actual = copy.deepcopy(tally.namespaces)
        tally.add(what_if)
        added = counted_usage(what_if.spec)
        adds = WhatIf(str(what_if.workload), len(what_if.spec.targets), texts(added))
    findings = Findings(tally.findings.most)
    findings.merge(tally.findings)
    by_namespace: dict[str, list[Allowance]] = {}
    for allowance in allowances:
        by_namespace.setdefault(allowance.namespace, []).append(allowance)
    namespaces = [
        _namespace(
            name,
            tally.namespaces.get(name) or NamespaceTally(),
            actual.get(name) or NamespaceTally(),
            by_namespace.get(name, []),
            findings,
            near,
        )
        for name in sorted({*tally.namespaces, *by_namespace})
    ]
    return AuditReport(
        bindings=tally.bindings,
        ignored=dict(sorted(tally.ignored.items())),
        namespaces=namespaces,
        findings=findings.listed(),
        counts=dict(sorted(findings.counts.items())),
        what_if=adds,
    )


def _namespace(
    name: str,
    page: NamespaceTally,
    actual: NamespaceTally,
    allowances: Sequence[Allowance],
    findings: Findings,
    near: float,
) -> NamespaceReport:
    used = without_zeros(page.used)
    legacy = without_zeros(page.legacy)
    quotas = []
    for allowance in allowances:
        quotas += _quotas(allowance, page, actual, findings, near)
    return NamespaceReport(
        namespace=name,
        bindings=page.bindings,
        unscheduled=page.unscheduled,
        used=texts(used),
        legacy=texts(legacy),
        overcharge=texts(without_zeros({key: nano - used.get(key, 0) for key, nano in legacy.items()})),
        clusters={cluster: texts(without_zeros(page.by_cluster[cluster])) for cluster in sorted(page.by_cluster)},
        quotas=quotas,
        workloads=_tops(page.workloads, used),
        components=_tops(page.components, used),
    )


def _quotas(
    allowance: Allowance, page: NamespaceTally, actual: NamespaceTally, findings: Findings, near: float
) -> list[QuotaReport]:
    """The quota and its parts per cluster. What a status reports is compared with `actual`, without any what-if."""
    overall = _QuotaReader(allowance, "", findings, near)
    used, really = _counted(allowance, page), _counted(allowance, actual)
    reports = [overall.read(allowance.limits, used, _Reported(allowance.reported, really), page.legacy)]
    for cluster, limits in sorted(allowance.assignments.items()):
        reader = _QuotaReader(allowance, cluster, findings, near)
        reported = _Reported(allowance.reported_by_cluster.get(cluster), actual.by_cluster.get(cluster, {}))
        reports.append(reader.read(limits, page.by_cluster.get(cluster, {}), reported, {}))
    return reports


class _Reported(NamedTuple):
    """What the status says is used, and what really is."""

    said: Amounts | None
    really: Amounts | None


def _counted(allowance: Allowance, page: NamespaceTally) -> Amounts | None:
    """What counts against the quota; None when its scopes cannot be decided."""
    if not allowance.scopes:
        return page.used
    if allowance.undecided_scopes:
        return None
    return total_of(amounts for priority, amounts in page.by_priority.items() if allowance.covers(priority))


class _QuotaReader:
    """Reads one quota line by line and collects what it finds."""

    def __init__(self, allowance: Allowance, cluster: str, findings: Findings, near: float) -> None:
        self.allowance, self.cluster, self.findings, self.near = allowance, cluster, findings, near
        self.title = f"{allowance} in cluster {cluster}" if cluster else str(allowance)

    def read(self, limits: Amounts, used: Amounts | None, reported: _Reported, legacy: Amounts) -> QuotaReport:
        lines = [self._line(read_key(key), limits[key], used, reported, legacy) for key in sorted(limits)]
        about = self.allowance
        return QuotaReport(about.kind, about.namespace, about.name, self.cluster, lines)

    def _line(self, key: Key, limit: int, used: Amounts | None, reported: _Reported, legacy: Amounts) -> Line:
        said = reported.said.get(key.text) if reported.said is not None else None
        shown = None if said is None else self._spell(key, said)
        why = key.why
        if used is None:
            why = f"requests do not tell the scope {', '.join(self.allowance.undecided_scopes)}"
        if key.resource is None or used is None:
            self._found("key-not-computed", f"{key.text}: {why}")
            return Line(key.text, self._spell(key, limit), reported=shown, why=why)
        if self.allowance.kind == FEDERATED and not self.cluster and not key.is_enforced_by_karmada:
            advice = "" if key.text.startswith("requests.") else _LIMIT_IN_MEMBERS
            evidence = f"{key.text} stands in spec.overall, but bindings never say {key.text}"
            self._found("key-not-enforced", evidence, advice)
        now = used.get(key.resource, 0)
        share = now / limit if limit else (0.0 if not now else float("inf"))
        self._weigh(key, now, limit, share)
        really = (reported.really or {}).get(key.resource, 0)
        drift = None if said is None else said - really
        if drift:
            evidence = f"{key.text}: status says {shown}, bindings add up to {self._spell(key, really)}"
            self._found("reported-wrong", evidence)
        old = legacy.get(key.resource)
        return Line(
            key=key.text,
            limit=self._spell(key, limit),
            used=self._spell(key, now),
            reported=shown,
            drift=None if drift is None else self._spell(key, drift),
            share=None if share == float("inf") else round(share, 4),
            legacy=None if old is None else self._spell(key, old),
        )

    def _weigh(self, key: Key, now: int, limit: int, share: float) -> None:
        spelled = f"{key.text}: used {self._spell(key, now)}, limit {self._spell(key, limit)}"
        if now > limit:
            self._found("over-limit", f"{spelled}, {self._spell(key, now - limit)} too much")
        elif share >= self.near and now:
            self._found("near-limit", f"{spelled}, {share:.0%}")

    def _found(self, code: str, evidence: str, advice: str = "") -> None:
        self.findings.add(finding(code, self.title, evidence, advice))

    @staticmethod
    def _spell(key: Key, nano: int) -> str:
        return str(quantity(key.text, nano))


def _tops(tops: dict[str, list[Entry]], used: Amounts) -> list[Top]:
    """Heaviest first; cpu and memory before the rarer resources."""
    order = {"cpu": 0, "memory": 1}
    return [
        Top(resource, workload, component, str(quantity(resource, nano)), round(nano / (used.get(resource) or 1), 4))
        for resource in sorted(tops, key=lambda name: (order.get(name, 2), name))
        if resource != PODS
        for nano, workload, component in sorted(tops[resource], key=lambda entry: (-entry[0], entry[1], entry[2]))
    ]
