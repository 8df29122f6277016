"""Counting a ledger's charges instead of bindings: each at what it is charged, with the part that is provisional.

A charge that is being changed counts at the larger of before and after, resource by resource. No demand says that, so
the newest one is counted first and the difference that the ledger charges is added to the sums.
"""

from __future__ import annotations

from dataclasses import replace

from estimator.accounting.audit.totals import NamespaceTally, Tally
from estimator.accounting.demand import charge_binding
from estimator.accounting.ledger.charges import Charge
from estimator.accounting.ledger.sums import NOTHING, POD_DIMENSIONS, SumKey, footprint
from estimator.quotas.amounts import NanoAmounts, add, no_amounts


def add_charge(tally: Tally, charge: Charge) -> None:
    """Count one charge. The tally's `unscheduled_sets` has to be 1, as the ledger charges it."""
    tally.add(charge_binding(charge.workload, charge.demand))
    if str(charge.workload) in tally.replaced:
        return
    page = tally.namespaces[charge.workload.namespace]
    charged = footprint(charge)
    newest = footprint(replace(charge, confirmed=charge.demand, provisional=None))
    if page.provisional is None:
        page.provisional = no_amounts()
    totals = (page.used, page.provisional)
    for key in {**charged, **newest}:
        if key.dimension in POD_DIMENSIONS and charge.is_mixed:
            continue  # the running sums leave such a charge's promise to whoever knows the quota; the newest stands
        amount, counted = charged.get(key, NOTHING), newest.get(key, NOTHING)
        used, provisional = totals if key.dimension == "all" else _parts(page, key)
        add(used, {key.resource: amount.charged - counted.charged})
        add(provisional, {key.resource: amount.charged - amount.confirmed})


def _parts(page: NamespaceTally, key: SumKey) -> tuple[NanoAmounts, NanoAmounts]:
    """What a cluster or a class of pods uses, and how much of it is provisional."""
    if key.dimension == "cluster":
        used, provisional = page.by_cluster, page.provisional_by_cluster
        return used.setdefault(key.value, no_amounts()), provisional.setdefault(key.value, no_amounts())
    pod = key.pod_class
    return (
        page.by_pod_class.setdefault(pod, no_amounts()),
        page.provisional_by_pod_class.setdefault(pod, no_amounts()),
    )
