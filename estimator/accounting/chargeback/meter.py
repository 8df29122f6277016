"""Adding up what workloads use over a period, component by component, cluster by cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from estimator.accounting.chargeback.cost_centres import Payers
from estimator.accounting.demand import Demand, WorkloadKey
from estimator.quotas.amounts import NanoAmounts, add, no_amounts, parse_amounts
from interpreters.core.errors import QuantityError
from interpreters.core.quantity import NANO
from interpreters.core.resources import PODS


class Period(NamedTuple):
    """Whole seconds since 1970; the end does not belong to it."""

    start: int
    end: int

    def since(self, created: float | None) -> int:
        """How many of its seconds there are from a moment on."""
        return self.end - max(self.start, self.start if created is None else int(created))


class Consumer(NamedTuple):
    """Who uses something, as finely as prices and reports tell it."""

    centre: str
    workload: WorkloadKey
    component: str
    cluster: str
    priority_class: str


@dataclass(slots=True)
class Meter:
    """What each consumer has used: nano-units times seconds, exactly."""

    payers: Payers
    used: dict[Consumer, NanoAmounts] = field(default_factory=dict)
    unreadable: list[str] = field(default_factory=list)
    unscheduled: int = 0
    podless: int = 0
    """Bindings with clusters that say neither replicas nor components."""

    def add(
        self,
        workload: WorkloadKey,
        demand: Demand,
        seconds: int,
        labels: Mapping[str, str] | None = None,
        annotations: Mapping[str, str] | None = None,
    ) -> None:
        """A workload that ran as it says for so long."""
        if not demand.targets:
            self.unscheduled += 1
            return
        if not demand.parts:
            self.podless += 1
        centre = self.payers.of(workload, labels, annotations)
        try:
            parts = list(_parts(demand))
        except QuantityError as error:
            self.unreadable.append(f"{workload}: {error}")
            return
        for component, cluster, priority, amounts in parts if seconds > 0 else ():
            consumer = Consumer(centre, workload, component, cluster, priority)
            add(self.used.setdefault(consumer, no_amounts()), amounts, seconds)


def _parts(demand: Demand) -> Iterator[tuple[str, str, str, NanoAmounts]]:
    """Each component in each cluster: a whole set with components, its share of the replicas without."""
    for target in demand.targets:
        for part in demand.parts:
            pods = max(part.replicas if demand.components else target.replicas, 0)
            request = parse_amounts(part.request)
            amounts = NanoAmounts({resource: max(nano, 0) * pods for resource, nano in request.items()})
            amounts[PODS] = pods * NANO
            yield part.name, target.name, part.priority_class, amounts
