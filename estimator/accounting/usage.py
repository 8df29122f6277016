"""How much a workload uses: by the rule of a binding, per cluster and per component.

With components, every target cluster runs one whole set; without, the target clusters share out replicas of one pod
template. Before a binding names clusters it uses nothing, and the ledger charges one set for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from estimator.accounting.demand import Demand, Part, binding_decoder
from estimator.quotas.amounts import NanoAmounts, add, no_amounts, parse_amounts, without_zeros
from estimator.quotas.scopes import PodClass, is_best_effort
from interpreters.core.quantity import NANO, Quantity
from interpreters.core.resources import PODS


class Share(NamedTuple):
    """What one component uses in total, and how many pods that is."""

    part: Part
    pods: int
    amounts: NanoAmounts


def shares(demand: Demand, *, unscheduled_sets: int = 0) -> Iterator[Share]:
    """Each component with what it uses over all clusters. `unscheduled_sets` counts while no cluster is named."""
    targets = demand.targets
    if demand.components:
        sets = len(targets) or unscheduled_sets
        for part in demand.components:
            pods = max(part.replicas, 0) * sets
            yield Share(part, pods, _scaled(part, pods))
        return
    for part in demand.parts:
        replicas = sum(target.replicas for target in targets) if targets else part.replicas * unscheduled_sets
        pods = max(replicas, 0)
        yield Share(part, pods, _scaled(part, pods))


def pod_class(part: Part) -> PodClass:
    """What the scopes of quotas ask of a component's pods. Raises `QuantityError`."""
    return PodClass(part.priority_class, is_best_effort(parse_amounts(part.request)))


def usage(demand: Demand, *, unscheduled_sets: int = 0) -> NanoAmounts:
    """What the demand uses, per resource. Raises `QuantityError`."""
    total = no_amounts()
    for share in shares(demand, unscheduled_sets=unscheduled_sets):
        add(total, share.amounts)
    return without_zeros(total)


def counted_usage(demand: Demand, *, unscheduled_sets: int = 0) -> NanoAmounts:
    """Usage with the number of pods beside the resources, as quotas with a `pods` key count it."""
    total = no_amounts()
    pods = 0
    for share in shares(demand, unscheduled_sets=unscheduled_sets):
        add(total, share.amounts)
        pods += share.pods
    total[PODS] = pods * NANO
    return without_zeros(total)


def usage_by_cluster(demand: Demand) -> dict[str, NanoAmounts]:
    """What each target cluster runs, pods included. Summed over the clusters it is `counted_usage`."""
    answer: dict[str, NanoAmounts] = {}
    for target in demand.targets:
        total = answer.setdefault(target.name, no_amounts())
        for part in demand.parts:
            pods = max(part.replicas if demand.components else target.replicas, 0)
            add(total, _scaled(part, pods))
            add(total, {PODS: pods * NANO})
    return {cluster: without_zeros(amounts) for cluster, amounts in answer.items()}


def binding_usage(binding: dict[str, Any]) -> dict[str, Quantity]:
    """What a ResourceBinding uses by Karmada's rule, in Karmada's spelling. Raises `QuantityError`."""
    demand = binding_decoder.decode(msgspec.json.encode(binding)).spec
    total: dict[str, Quantity] = {}
    for share in shares(demand):
        for resource, text in share.part.request.items():
            amount = Quantity.parse(text) * share.pods
            total[resource] = total[resource] + amount if resource in total else amount
    return {resource: amount for resource, amount in total.items() if amount}


def _scaled(part: Part, pods: int) -> NanoAmounts:
    """Never below zero: a negative request or replica count must not pay for another workload."""
    if pods <= 0:
        return no_amounts()
    return NanoAmounts({resource: max(nano, 0) * pods for resource, nano in parse_amounts(part.request).items()})
