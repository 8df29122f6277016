"""What one charge adds to its namespace's running sums: overall, per cluster and per priority class.

With the sums kept as charges change, an admission reads a few rows however many charges there are. Both columns of a
sum can be sampled at any time: `charged` is what counts against a quota, `confirmed` the part of it that was seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from estimator.accounting.amounts import Amounts, add, larger, without_zeros
from estimator.accounting.demand import Demand
from estimator.accounting.ledger.charges import Charge, one_set_usage
from estimator.accounting.quotas import count_key
from estimator.accounting.usage import PODS, shares, usage_by_cluster
from interpreters.core.quantity import NANO

Dimension = Literal["all", "cluster", "priority"]


@dataclass(frozen=True, slots=True)
class Others:
    """What everybody else in the namespace is charged for."""

    total: Amounts
    by_cluster: Mapping[str, Amounts] = field(default_factory=dict)
    by_priority: Mapping[str, Amounts] = field(default_factory=dict)
    mixed: Sequence[Charge] = ()
    """Charges of which `by_priority` holds the confirmed part only; see `footprint`."""


class SumKey(NamedTuple):
    """One running sum of a namespace."""

    dimension: Dimension
    value: str
    resource: str


class Sum(NamedTuple):
    """Nano-units that are charged, and how many of them are confirmed."""

    charged: int = 0
    confirmed: int = 0

    def __add__(self, other: Any) -> Sum:
        return Sum(self.charged + other.charged, self.confirmed + other.confirmed)

    def __neg__(self) -> Sum:
        return Sum(-self.charged, -self.confirmed)


Sums = dict[SumKey, Sum]
NOTHING: Final = Sum()


def footprint(charge: Charge) -> Sums:
    """What the charge adds to each sum. Raises `QuantityError`."""
    if not charge.is_live:
        return {}
    confirmed, provisional = charge.confirmed, charge.provisional
    seen = one_set_usage(confirmed)
    if confirmed is not None:
        seen[count_key(charge.workload.group, charge.workload.kind)] = NANO
    sums = _sums("all", "", charge.amounts, seen)
    before, promised = (usage_by_cluster(demand) if demand else {} for demand in (confirmed, provisional))
    for cluster in {**before, **promised}:
        there = before.get(cluster, {})
        sums |= _sums("cluster", cluster, larger(there, promised.get(cluster, {})), there)
    before, promised = (_by_priority(demand) for demand in (confirmed, provisional))
    for priority in {**before, **promised}:
        there = before.get(priority, {})
        # A quota may cover several classes, and the larger of two sums is not the sum of the larger parts. What a
        # mixed charge promises beyond what is there is therefore added where the quota is known.
        charged = there if charge.is_mixed else larger(there, promised.get(priority, {}))
        sums |= _sums("priority", priority, charged, there)
    return sums


def _sums(dimension: Dimension, value: str, charged: Mapping[str, int], confirmed: Mapping[str, int]) -> Sums:
    return {
        SumKey(dimension, value, resource): Sum(nano, confirmed.get(resource, 0)) for resource, nano in charged.items()
    }


def _by_priority(demand: Demand | None) -> dict[str, Amounts]:
    found: dict[str, Amounts] = {}
    for share in shares(demand, unscheduled_sets=1) if demand else ():
        total = found.setdefault(share.part.priority_class, {})
        add(total, share.amounts)
        add(total, {PODS: share.pods * NANO})
    return {priority: without_zeros(amounts) for priority, amounts in found.items()}


def change(total: Sums, more: Mapping[SumKey, Sum], *, times: Literal[1, -1] = 1) -> None:
    """Add `more` into `total`, or take it away."""
    for key, amount in more.items():
        total[key] = total.get(key, NOTHING) + (amount if times == 1 else -amount)


def amounts_of(sums: Mapping[SumKey, Sum], dimension: Dimension) -> dict[str, Amounts]:
    """What is charged, by the dimension's values."""
    found: dict[str, Amounts] = {}
    for key, amount in sums.items():
        if key.dimension == dimension and amount.charged:
            found.setdefault(key.value, {})[key.resource] = amount.charged
    return found


def sum_rows(namespace: str, sums: Iterable[tuple[SumKey, Sum]]) -> list[dict[str, Any]]:
    return [{"namespace": namespace, **key._asdict(), **amount._asdict()} for key, amount in sums]
