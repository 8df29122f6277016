"""Whether a change of one charge stays within its namespace's quotas, and the words for it when it does not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from estimator.accounting.demand import Demand
from estimator.accounting.ledger.charges import Charge, heaviest
from estimator.accounting.ledger.sums import Others
from estimator.accounting.usage import counted_usage, pod_class, usage_by_cluster
from estimator.quotas.amounts import NanoAmounts, add, larger, no_amounts, quantity, total_of
from estimator.quotas.keys import Key, read_key
from estimator.quotas.objects import Quota


@dataclass(frozen=True, slots=True)
class Excess:
    """One key of one quota that the change would push over its limit."""

    quota: Quota
    cluster: str
    key: str
    used: int
    asked: int
    limit: int
    component: str
    component_weight: int

    def __str__(self) -> str:
        def spell(nano: int) -> str:
            return str(quantity(self.key, nano))

        where = f" in cluster {self.cluster}" if self.cluster else ""
        over = spell(self.used + self.asked - self.limit)
        heavy = f"; component {self.component} weighs most ({spell(self.component_weight)})" if self.component else ""
        return (
            f"{self.quota}{where}: {self.key}: used {spell(self.used)}, asked {spell(self.asked)}, "
            f"limit {spell(self.limit)}, {over} too much{heavy}"
        )


def needs_scopes(quotas: Iterable[Quota]) -> bool:
    """Whether a quota counts some pods only."""
    return any(quota.scopes for quota in quotas)


def counts_parts(quotas: Iterable[Quota]) -> bool:
    """Whether a quota counts one cluster or some pods apart: these may grow while the whole does not."""
    return any(quota.assignments or quota.scopes for quota in quotas)


def excesses(quotas: Iterable[Quota], others: Others, before: Charge, after: Charge) -> list[Excess]:
    """What the change breaks. Only what it increases can break anything: shrinking is always allowed."""
    found = []
    for quota in quotas:
        if quota.undecided_scopes:
            continue  # named by `unchecked`
        found += _overall(quota, others, before, after)
        for cluster, limits in sorted(quota.assignments.items()):
            found += _over_limits(
                quota, cluster, limits,
                used=others.by_cluster.get(cluster) or no_amounts(),
                before=_in_cluster(before, cluster), after=_in_cluster(after, cluster), demand=after.demand,
            )  # fmt: skip
    return found


def unchecked(quotas: Iterable[Quota]) -> list[str]:
    """What no check covers, and why."""
    found = []
    for quota in quotas:
        if scopes := quota.undecided_scopes:
            found.append(f"{quota} is not checked: requests do not tell its scope {', '.join(scopes)}")
            continue
        found += [f"{quota}: {key.text} is not checked: {key.why}" for key in quota.keys if key.resource is None]
    return found


def _overall(quota: Quota, others: Others, before: Charge, after: Charge) -> list[Excess]:
    if not quota.scopes:
        used, was, will = others.total, before.amounts, after.amounts
    else:
        used = _used_in_scope(others, quota)
        was, will = _in_scope(before, quota), _in_scope(after, quota)
    return _over_limits(quota, "", quota.limits, used, was, will, covered(after.demand, quota))


def _over_limits(
    quota: Quota,
    cluster: str,
    limits: NanoAmounts,
    used: NanoAmounts,
    before: NanoAmounts,
    after: NanoAmounts,
    demand: Demand,
) -> list[Excess]:
    found = []
    for key in (read_key(text) for text in sorted(limits)):
        if key.resource is None:
            continue
        was, will, rest = (amounts.get(key.resource, 0) for amounts in (before, after, used))
        if will > was and rest + will > limits[key.text]:
            name, weight = _heaviest(demand, key)
            found.append(Excess(quota, cluster, key.text, rest + was, will - was, limits[key.text], name, weight))
    return found


def _heaviest(demand: Demand, key: Key) -> tuple[str, int]:
    found = heaviest(demand, key.resource or "")
    return (found[0].name, found[1]) if found is not None and found[1] else ("", 0)


def covered(demand: Demand, quota: Quota) -> Demand:
    """The part of a demand that the quota's scopes let count."""
    if not quota.scopes:
        return demand
    parts = [part for part in demand.parts if quota.covers(pod_class(part))]
    if demand.components:
        return Demand(components=parts, clusters=demand.clusters)
    return demand if parts else Demand()


def _used_in_scope(others: Others, quota: Quota) -> NanoAmounts:
    used = total_of(amounts for pod, amounts in others.by_pod_class.items() if quota.covers(pod))
    for charge in others.mixed:
        add(used, _in_scope(charge, quota))
        add(used, _in_scope(replace(charge, provisional=None), quota), -1)
    return used


def _in_scope(charge: Charge, quota: Quota) -> NanoAmounts:
    confirmed, provisional = (
        counted_usage(covered(demand, quota), unscheduled_sets=1) if demand else no_amounts()
        for demand in (charge.confirmed, charge.provisional)
    )
    return larger(confirmed, provisional)


def _in_cluster(charge: Charge, cluster: str) -> NanoAmounts:
    confirmed, provisional = (
        (usage_by_cluster(demand).get(cluster) if demand else None) or no_amounts()
        for demand in (charge.confirmed, charge.provisional)
    )
    return larger(confirmed, provisional)
