"""What one charge adds to its namespace's running sums: overall, per cluster and per class of pods.

With the sums kept as charges change, an admission reads a few rows however many charges there are. Both columns of a
sum can be sampled at any time: `charged` is what counts against a quota, `confirmed` the part of it that was seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from estimator.accounting.demand import Demand
from estimator.accounting.ledger.charges import Charge, one_set_usage
from estimator.accounting.usage import pod_class, shares, usage_by_cluster
from estimator.quotas.amounts import NanoAmounts, add, larger, no_amounts, without_zeros
from estimator.quotas.keys import count_key
from estimator.quotas.scopes import PodClass
from interpreters.core.quantity import NANO
from interpreters.core.resources import PODS

Dimension = Literal["all", "cluster", "priority", "best-effort"]
POD_DIMENSIONS: Final = ("priority", "best-effort")
"""By priority class: pods that request cpu or memory, and those that do not. Scopes of quotas tell these apart."""


@dataclass(frozen=True, slots=True)
class Others:
    """What everybody else in the namespace is charged for."""

    total: NanoAmounts
    by_cluster: Mapping[str, NanoAmounts] = field(default_factory=dict)
    by_pod_class: Mapping[PodClass, NanoAmounts] = field(default_factory=dict)
    mixed: Sequence[Charge] = ()
    """Charges of which `by_pod_class` holds the confirmed part only; see `footprint`."""


class SumKey(NamedTuple):
    """One running sum of a namespace."""

    dimension: Dimension
    value: str
    resource: str

    @property
    def pod_class(self) -> PodClass:
        """Of a sum in one of `POD_DIMENSIONS`."""
        return PodClass(self.value, self.dimension == "best-effort")


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
    here, promised = (usage_by_cluster(demand) if demand else {} for demand in (confirmed, provisional))
    for cluster in {**here, **promised}:
        there = here.get(cluster) or no_amounts()
        sums |= _sums("cluster", cluster, larger(there, promised.get(cluster) or no_amounts()), there)
    before, after = _by_pod_class(confirmed), _by_pod_class(provisional)
    for pod in {**before, **after}:
        there = before.get(pod) or no_amounts()
        # A quota may cover several classes, and the larger of two sums is not the sum of the larger parts. What a
        # mixed charge promises beyond what is there is therefore added where the quota is known.
        charged = there if charge.is_mixed else larger(there, after.get(pod) or no_amounts())
        sums |= _sums("best-effort" if pod.best_effort else "priority", pod.priority, charged, there)
    return sums


def _sums(dimension: Dimension, value: str, charged: Mapping[str, int], confirmed: Mapping[str, int]) -> Sums:
    return {
        SumKey(dimension, value, resource): Sum(nano, confirmed.get(resource, 0)) for resource, nano in charged.items()
    }


def _by_pod_class(demand: Demand | None) -> dict[PodClass, NanoAmounts]:
    found: dict[PodClass, NanoAmounts] = {}
    for share in shares(demand, unscheduled_sets=1) if demand else ():
        total = found.setdefault(pod_class(share.part), no_amounts())
        add(total, share.amounts)
        add(total, {PODS: share.pods * NANO})
    return {pod: without_zeros(amounts) for pod, amounts in found.items()}


def change(total: Sums, more: Mapping[SumKey, Sum], *, times: Literal[1, -1] = 1) -> None:
    """Add `more` into `total`, or take it away."""
    for key, amount in more.items():
        total[key] = total.get(key, NOTHING) + (amount if times == 1 else -amount)


def amounts_of(sums: Mapping[SumKey, Sum], dimension: Dimension) -> dict[str, NanoAmounts]:
    """What is charged, by the dimension's values."""
    found: dict[str, NanoAmounts] = {}
    for key, amount in sums.items():
        if key.dimension == dimension and amount.charged:
            found.setdefault(key.value, no_amounts())[key.resource] = amount.charged
    return found


def by_pod_class(sums: Mapping[SumKey, Sum]) -> dict[PodClass, NanoAmounts]:
    """What is charged, by class of pods."""
    found: dict[PodClass, NanoAmounts] = {}
    for key, amount in sums.items():
        if key.dimension in POD_DIMENSIONS and amount.charged:
            found.setdefault(key.pod_class, no_amounts())[key.resource] = amount.charged
    return found


def sum_rows(namespace: str, sums: Iterable[tuple[SumKey, Sum]]) -> list[dict[str, Any]]:
    return [{"namespace": namespace, **key._asdict(), **amount._asdict()} for key, amount in sums]
