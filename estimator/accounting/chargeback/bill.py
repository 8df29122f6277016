"""The bill: what was used, priced and rounded row by row, and summed so that every table adds up to the same total."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from estimator.accounting.chargeback.meter import Consumer, Meter, Period
from estimator.accounting.chargeback.prices import PriceList
from estimator.quotas.amounts import NanoAmounts, add, no_amounts
from interpreters.core.resources import PODS

DECIMALS: Final = 6  # of the currency

COLUMNS: Final = {
    "centre": ("cost_centre",),
    "namespace": ("cost_centre", "namespace"),
    "workload": ("cost_centre", "namespace", "kind", "api_group", "workload"),
    "component": (
        "cost_centre", "namespace", "kind", "api_group", "workload", "component", "cluster", "priority_class",
    ),
}  # fmt: skip
"""What a bill can be broken down by, and the columns that say whose a row is."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a bill. `used` is in nano-units times seconds, `costs` in the smallest part of the currency."""

    names: tuple[str, ...]
    used: NanoAmounts
    costs: NanoAmounts

    @property
    def cost(self) -> int:
        return sum(self.costs.values())


@dataclass(frozen=True, slots=True)
class Bill:
    currency: str
    period: Period
    by: str
    resources: Sequence[str]
    """The resources that have a price."""

    rows: Sequence[Row]
    unpriced: NanoAmounts
    """Used without there being a price: nano-units times seconds."""

    notes: Sequence[str]
    """What is not in it, and why."""

    basis: str = ""
    """Which moments were looked at. What was between them nobody saw."""

    @property
    def total(self) -> int:
        return sum(row.cost for row in self.rows)


def make_bill(meter: Meter, prices: PriceList, period: Period, by: str, basis: str = "") -> Bill:
    """Every row, the dearest first. A component's cost in a cluster is rounded once; all sums are of rounded costs."""
    rows: dict[tuple[str, ...], Row] = {}
    unpriced = no_amounts()
    for consumer, used in meter.used.items():
        names = _names(consumer, by)
        row = rows.setdefault(names, Row(names, no_amounts(), no_amounts()))
        for resource, amount in used.items():
            price = prices.price(resource, consumer.cluster, consumer.priority_class)
            if price is not None:
                add(row.used, {resource: amount})
                add(row.costs, {resource: round(price.each * amount * 10**DECIMALS)})
            elif resource == PODS:
                add(row.used, {PODS: amount})
            elif amount:
                add(unpriced, {resource: amount})
    ordered = sorted(rows.values(), key=lambda row: (-row.cost, row.names))
    return Bill(prices.currency, period, by, prices.resources, ordered, unpriced, _notes(meter, unpriced), basis)


def _names(consumer: Consumer, by: str) -> tuple[str, ...]:
    workload = consumer.workload
    every = (
        consumer.centre, workload.namespace, workload.kind, workload.group, workload.name, consumer.component,
        consumer.cluster, consumer.priority_class,
    )  # fmt: skip
    return every[: len(COLUMNS[by])]


def _notes(meter: Meter, unpriced: NanoAmounts) -> list[str]:
    notes = [f"no price for {resource}; what used it is cheaper here than it was" for resource in sorted(unpriced)]
    if meter.podless:
        notes.append(f"bindings that say neither replicas nor components cost nothing here: {meter.podless:,}")
    return notes + [f"not counted: {problem}" for problem in meter.unreadable]
