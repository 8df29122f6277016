"""One reading of every quota: its limit, what is charged against it, and how much of that is provisional."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from estimator.accounting.history.series import Reading, Subject
from estimator.accounting.ledger.ledger import Ledger
from estimator.accounting.ledger.sums import NOTHING, POD_DIMENSIONS, Sum, SumKey
from estimator.quotas.keys import read_key
from estimator.quotas.objects import Quota


async def quota_readings(ledger: Ledger, quotas: Iterable[Quota]) -> list[Reading]:
    """Every key that bindings can tell, as the ledger has it now."""
    found: list[Reading] = []
    by_namespace: dict[str, list[Quota]] = {}
    for quota in quotas:
        by_namespace.setdefault(quota.namespace, []).append(quota)
    for namespace, those in by_namespace.items():
        async with ledger.page(namespace, read_only=True) as page:
            sums = await page.all_sums()
        found += readings(those, sums)
    return found


def readings(quotas: Iterable[Quota], sums: Mapping[SumKey, Sum]) -> Iterator[Reading]:
    """The quotas of one namespace, compared with its running sums."""
    for quota in quotas:
        for cluster, limits in [("", quota.limits), *sorted(quota.assignments.items())]:
            for key in sorted(limits):
                resource = _resource(quota, key)
                if resource is not None:
                    amount = _amount(quota, cluster, resource, sums)
                    subject = Subject(quota.kind, quota.namespace, quota.name, cluster, key)
                    yield Reading(subject, limits[key], amount.charged, amount.charged - amount.confirmed)


def _resource(quota: Quota, text: str) -> str | None:
    return None if quota.undecided_scopes else read_key(text).resource


def _amount(quota: Quota, cluster: str, resource: str, sums: Mapping[SumKey, Sum]) -> Sum:
    if cluster:
        return sums.get(SumKey("cluster", cluster, resource), NOTHING)
    if not quota.scopes:
        return sums.get(SumKey("all", "", resource), NOTHING)
    total = NOTHING
    for key, amount in sums.items():
        if key.dimension in POD_DIMENSIONS and key.resource == resource and quota.covers(key.pod_class):
            total += amount
    return total
