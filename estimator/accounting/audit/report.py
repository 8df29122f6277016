"""The nouns of an audit's report: what each namespace and quota has, uses and says it uses. They are its JSON, too."""

from __future__ import annotations

from typing import Literal

from estimator.accounting.audit.findings import Finding
from estimator.accounting.history.rendering import QuotaHistory
from interpreters.core.requirements import Wire

Verdict = Literal["fits", "over", "still over"]


class Line(Wire, frozen=True, omit_defaults=False):
    """One key of a quota. What cannot be known is null, and `why` says why."""

    key: str
    limit: str
    used: str | None = None
    provisional: str | None = None
    """How much of `used` was admitted and not seen yet; only a ledger knows."""

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
    scoped: bool = False
    """Whether it counts only some of the pods."""

    @property
    def title(self) -> str:
        where = f" in cluster {self.cluster}" if self.cluster else ""
        return f"{self.kind} {self.namespace}/{self.name}{where}"


class StateLine(Wire, frozen=True, omit_defaults=False):
    """Bindings that are suspended, evicting or rescheduling, and how much that is about."""

    state: str
    bindings: int
    amounts: dict[str, str]


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

    states: list[StateLine]
    clusters: dict[str, dict[str, str]]
    quotas: list[QuotaReport]
    workloads: list[Top]
    components: list[Top]


class WhatIfChange(Wire, frozen=True, omit_defaults=False):
    """A workload that would come or change, and what that adds; less than nothing where it shrinks."""

    workload: str
    change: Literal["new", "changed"]
    clusters: int
    adds: dict[str, str]


class Effect(Wire, frozen=True, omit_defaults=False):
    """One key of a quota before and after. `used_before` and `limit_before` are null where the quota is new."""

    quota: str
    key: str
    used_before: str | None
    limit_before: str | None
    used: str
    limit: str
    verdict: Verdict


class WhatIf(Wire, frozen=True, omit_defaults=False):
    """What changes that are not made yet would do."""

    changes: list[WhatIfChange]
    quotas: list[str]
    """The quotas that would change."""

    effects: list[Effect]


class ResourceTotal(Wire, frozen=True, omit_defaults=False):
    """A resource over all namespaces. `limited` is used where a quota sets `limit`, so the two can be compared."""

    resource: str
    used: str
    provisional: str | None
    limited: str
    limit: str | None
    share: float | None


class Totals(Wire, frozen=True, omit_defaults=False):
    """The estate in figures. Keys of quotas are counted with their parts per cluster."""

    namespaces: int
    bindings: int
    unscheduled: int
    quotas: int
    keys_over: int
    keys_near: int
    resources: list[ResourceTotal]


class Origin(Wire, frozen=True, omit_defaults=False):
    """When an audit was made, of what, for which Karmada, and by which interp."""

    at: str = ""
    source: str = ""
    karmada: str = ""
    quotas: str = ""
    """Where quotas were read from besides the source."""

    interp: str = ""


class AuditReport(Wire, frozen=True, omit_defaults=False):
    """What bindings use, namespace by namespace and quota by quota, and what is wrong with it."""

    origin: Origin
    totals: Totals
    bindings: int
    ignored: dict[str, int]
    namespaces: list[NamespaceReport]
    findings: list[Finding]
    counts: dict[str, int]
    """How many findings there are of each kind; JSON and CSV list all of them, the other formats the first of each."""

    what_if: WhatIf | None = None
    history: list[QuotaHistory] = []
    """What the quotas used over the last thirty days; only a ledger knows."""

    def has(self, *severities: str) -> bool:
        return any(found.severity in severities for found in self.findings)
