"""One quota compared with what its namespace uses, key by key, overall and in each cluster it is assigned to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from estimator.accounting.audit.drift import Contribution, causes_of, explained
from estimator.accounting.audit.findings import Finding, Findings, finding
from estimator.accounting.audit.report import Line, QuotaReport
from estimator.accounting.audit.totals import NamespaceTally
from estimator.accounting.readable import readable, told_apart
from estimator.quotas.amounts import NanoAmounts, no_amounts, quantity, total_of
from estimator.quotas.keys import Key, read_key
from estimator.quotas.objects import FEDERATED, Quota
from estimator.quotas.scopes import PodClass

_LIMIT_IN_MEMBERS = "limit it by a ResourceQuota in the member clusters, or by /admit: Karmada adds up requests only"

_MEMBER_COUNTS = (
    "the member's own ResourceQuota counts the pods that are there: see whether the workloads' pods run in that "
    "cluster, and whether others run beside them"
)


class Pages(NamedTuple):
    """A namespace as it is counted, and without any what-if: that is what a status is compared with."""

    now: NamespaceTally
    actual: NamespaceTally
    contributions: Sequence[Contribution] | None = None
    """Its bindings one by one; None when there were too many to keep."""


class _Used(NamedTuple):
    """What counts against one quota or one cluster's part of it; None where scopes cannot be decided."""

    now: NanoAmounts | None
    provisional: NanoAmounts | None
    said: NanoAmounts | None
    """As the status says."""

    really: NanoAmounts | None
    """What the status should say."""


def quota_reports(quota: Quota, pages: Pages, findings: Findings, near: float) -> Iterator[QuotaReport]:
    """The quota and its parts per cluster."""
    now, actual = pages.now, pages.actual
    used = _Used(
        _counted(quota, now.used, now.by_pod_class),
        None if now.provisional is None else _counted(quota, now.provisional, now.provisional_by_pod_class),
        quota.reported,
        _counted(quota, actual.used, actual.by_pod_class),
    )
    reader = _QuotaReader(quota, "", findings, near)
    reader.status = _status(quota, used, pages.contributions)
    for found in assignment_findings(quota):
        findings.add(found)
    if not used.said and reader.status.is_members and (unsaid := _unsaid(quota, used)):
        findings.add(finding("enforcement-off", str(quota), unsaid))
    yield reader.read(quota.limits, used, now.legacy)
    for cluster, limits in sorted(quota.assignments.items()):
        there = _Used(
            now.by_cluster.get(cluster) or no_amounts(),
            None if now.provisional is None else now.provisional_by_cluster.get(cluster) or no_amounts(),
            quota.reported_by_cluster.get(cluster),
            actual.by_cluster.get(cluster) or no_amounts(),
        )
        yield _QuotaReader(quota, cluster, findings, near).read(limits, there, no_amounts())


def _counted(quota: Quota, every: NanoAmounts, by_pod_class: dict[PodClass, NanoAmounts]) -> NanoAmounts | None:
    """What counts against the quota; None when its scopes cannot be decided."""
    if not quota.scopes:
        return every
    if quota.undecided_scopes:
        return None
    return total_of(amounts for pod, amounts in by_pod_class.items() if quota.covers(pod))


class _Status(NamedTuple):
    """How a status came about: as the sum of the members' quotas, and why it differs from the bindings."""

    is_members: bool = False
    why: str = ""


def _status(quota: Quota, used: _Used, contributions: Sequence[Contribution] | None) -> _Status:
    if quota.kind != FEDERATED or used.really is None:
        return _Status()
    if used.said is None:
        return _Status(is_members=quota.has_status and not quota.assignments)
    members = total_of(quota.reported_by_cluster.values())
    if members and all(used.said.get(key, 0) == members.get(key, 0) for key in {*used.said, *members}):
        return _Status(is_members=True)
    keys = [key for key in quota.keys if key.is_enforced_by_karmada and key.resource is not None]
    difference = NanoAmounts({key.text: used.really.get(key.text, 0) - used.said.get(key.text, 0) for key in keys})
    if contributions is None:
        return _Status(why="there are too many bindings to tell which make the difference")
    causes = explained(difference, causes_of(contributions))
    return _Status(why=" and ".join(cause.words for cause in causes) or "no one or two bindings make the difference")


def _unsaid(quota: Quota, used: _Used) -> str:
    """What bindings use of a quota whose status says nothing of it."""
    found = {
        key.text: (used.really or no_amounts()).get(key.text, 0) for key in quota.keys if key.is_enforced_by_karmada
    }
    named = ", ".join(f"{name} {readable(name, nano)}" for name, nano in found.items() if nano)
    return f"the status says nothing of what is used, bindings add up to {named}" if named else ""


def assignment_findings(quota: Quota) -> Iterator[Finding]:
    """Assignments that add up to more than `overall`, or name what it does not."""
    assigned = total_of(quota.assignments.values())
    for key in sorted(assigned):
        if key not in quota.limits:
            clusters = ", ".join(sorted(name for name, hard in quota.assignments.items() if key in hard))
            evidence = f"{key} is assigned to {clusters}, spec.overall does not name it"
            yield finding("assignment-not-overall", str(quota), evidence)
        elif assigned[key] > quota.limits[key]:
            more, overall = told_apart(key, assigned[key], quota.limits[key])
            evidence = f"{key}: assignments add up to {more}, spec.overall is {overall}"
            yield finding("assignments-above-overall", str(quota), evidence)


class _QuotaReader:
    """Reads one quota line by line and collects what it finds."""

    def __init__(self, quota: Quota, cluster: str, findings: Findings, near: float) -> None:
        self.quota, self.cluster, self.findings, self.near = quota, cluster, findings, near
        self.status = _Status()
        self.title = f"{quota} in cluster {cluster}" if cluster else str(quota)

    def read(self, limits: NanoAmounts, used: _Used, legacy: NanoAmounts) -> QuotaReport:
        lines = [self._line(read_key(key), limits[key], used, legacy) for key in sorted(limits)]
        about = self.quota
        return QuotaReport(about.kind, about.namespace, about.name, self.cluster, lines, bool(about.scopes))

    def _line(self, key: Key, limit: int, used: _Used, legacy: NanoAmounts) -> Line:
        said = used.said.get(key.text, self._unsaid(key)) if used.said is not None else None
        shown = None if said is None else self._spell(key, said)
        why = key.why
        if used.now is None:
            why = f"requests do not tell the scope {', '.join(self.quota.undecided_scopes)}"
        if key.resource is None or used.now is None:
            self._found("key-not-computed", f"{key.text}: {why}")
            return Line(key.text, self._spell(key, limit), reported=shown, why=why)
        if self.quota.kind == FEDERATED and not self.cluster and not key.is_enforced_by_karmada:
            advice = "" if key.text.startswith("requests.") else _LIMIT_IN_MEMBERS
            evidence = f"{key.text} is in spec.overall, but bindings never say {key.text}"
            self._found("key-not-enforced", evidence, advice)
        now = used.now.get(key.resource, 0)
        share = now / limit if limit else (0.0 if not now else float("inf"))
        self._weigh(key, now, limit, share)
        really = (used.really or no_amounts()).get(key.resource, 0)
        drift = None if said is None else said - really
        if said is not None and drift:
            self._found_drift(key, *told_apart(key.text, said, really))
        old = legacy.get(key.resource)
        return Line(
            key=key.text,
            limit=self._spell(key, limit),
            used=self._spell(key, now),
            provisional=None if used.provisional is None else self._spell(key, used.provisional.get(key.resource, 0)),
            reported=shown,
            drift=None if drift is None else self._spell(key, drift),
            share=None if share == float("inf") else round(share, 4),
            legacy=None if old is None else self._spell(key, old),
        )

    def _weigh(self, key: Key, now: int, limit: int, share: float) -> None:
        used, most = told_apart(key.text, now, limit)
        spelled = f"{key.text}: used {used}, limit {most}"
        if now > limit:
            self._found("over-limit", f"{spelled}, {readable(key.text, now - limit)} too much")
        elif share >= self.near and now:
            self._found("near-limit", f"{spelled}, {share:.0%}")

    def _unsaid(self, key: Key) -> int | None:
        """What a status means that does not name a key: Karmada leaves out what no binding uses."""
        return 0 if self.quota.kind == FEDERATED and not self.cluster and key.is_enforced_by_karmada else None

    def _found_drift(self, key: Key, said: str, ours: str) -> None:
        if self.status.is_members:
            evidence = f"{key.text}: status says {said}, the sum of the members' quotas; bindings add up to {ours}"
            self._found("enforcement-off", evidence)
            return
        advice = _MEMBER_COUNTS if self.cluster else ""
        why = f": {self.status.why}" if self.status.why and key.is_enforced_by_karmada else ""
        self._found("reported-wrong", f"{key.text}: status says {said}, bindings add up to {ours}{why}", advice)

    def _found(self, code: str, evidence: str, advice: str = "") -> None:
        self.findings.add(finding(code, self.title, evidence, advice))

    @staticmethod
    def _spell(key: Key, nano: int) -> str:
        return str(quantity(key.text, nano))
