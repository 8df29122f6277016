"""What if: workloads that come or change, and quotas that change, counted as if they were there already.

Nothing is written. Bindings of workloads that change are set aside while the others are counted, so that both sums can
be made from them: as it is, and as it would be.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from estimator.accounting.audit.drift import Contributions
from estimator.accounting.audit.findings import Findings
from estimator.accounting.audit.report import Effect, NamespaceReport, Verdict, WhatIfChange
from estimator.accounting.audit.totals import NamespaceTally, Tally
from estimator.accounting.demand import Binding, Demand, WorkloadKey, charge_binding, placed_in
from estimator.accounting.ledger.charges import Charge, admitted
from estimator.accounting.usage import counted_usage
from estimator.quotas.amounts import add, nano_of, quantity, without_zeros
from estimator.quotas.objects import Quota, in_order
from interpreters.core.errors import InputError


@dataclass(frozen=True, slots=True)
class Changes:
    """What would be applied: workloads with the pods their scripts tell, bindings as they are, and quotas."""

    demands: Mapping[WorkloadKey, Demand] = field(default_factory=dict)
    bindings: Mapping[WorkloadKey, Binding] = field(default_factory=dict)
    quotas: Sequence[Quota] = ()
    clusters: int | None = None
    """In how many clusters a new workload would run; one that is bound stays where it is."""

    @property
    def workloads(self) -> list[WorkloadKey]:
        return sorted({*self.demands, *self.bindings})

    @property
    def names(self) -> frozenset[str]:
        """The workloads as a tally names them: it sets their bindings aside."""
        return frozenset(map(str, self.workloads))

    def binding(self, workload: WorkloadKey, before: Sequence[Binding]) -> Binding:
        """The binding that a workload would have. Raises `InputError` for a new one without a number of clusters."""
        if workload in self.bindings:
            return self.bindings[workload]
        demand = self.demands[workload]
        if before:
            known = Charge(workload, confirmed=before[0].spec.plain)
            return charge_binding(workload, admitted(known, demand, None, expires_at=0.0).demand)
        if self.clusters is None:
            raise InputError(f"{workload} is not bound yet: say in how many clusters it would run, with --clusters")
        return charge_binding(workload, placed_in(demand, self.clusters))


@dataclass(frozen=True, slots=True)
class Outlook:
    """The namespaces as they are, and what each change adds."""

    actual: dict[str, NamespaceTally]
    contributions: Contributions
    changes: list[WhatIfChange]


def applied(tally: Tally, changes: Changes) -> Outlook:
    """Count the changes into the tally; what is there without them is returned."""
    now = Tally(
        known=tally.known, most=tally.most, unscheduled_sets=tally.unscheduled_sets, release=tally.release,
        findings=Findings(0), contributions=tally.contributions, namespaces=copy.deepcopy(tally.namespaces),
    )  # fmt: skip
    tally.contributions, tally.replaced = Contributions(most=0), frozenset()
    made = []
    for workload in changes.workloads:
        before = tally.set_aside.get(str(workload), [])
        after = changes.binding(workload, before)
        for binding in before:
            now.add(binding)
        tally.bindings -= len(before)
        tally.add(after)
        made.append(_change(workload, before, after, tally))
    return Outlook(now.namespaces, now.contributions, made)


def _change(workload: WorkloadKey, before: Sequence[Binding], after: Binding, tally: Tally) -> WhatIfChange:
    sets = tally.unscheduled_sets
    difference = counted_usage(after.spec, unscheduled_sets=sets)
    for binding in before:
        add(difference, counted_usage(binding.spec, unscheduled_sets=sets), -1)
    adds = {name: str(quantity(name, nano)) for name, nano in sorted(without_zeros(difference).items())}
    return WhatIfChange(str(workload), "changed" if before else "new", len(after.spec.targets), adds)


def with_changed(quotas: Iterable[Quota], changed: Sequence[Quota]) -> list[Quota]:
    """The quotas as they would be. What a status says today stays, for nobody has counted under the new one."""
    known = {str(quota): quota for quota in quotas}
    for quota in changed:
        old = known.get(str(quota))
        if old is not None:
            quota = replace(  # noqa: PLW2901
                quota, reported=old.reported, reported_by_cluster=old.reported_by_cluster, enforced=old.enforced
            )
        known[str(quota)] = quota
    return in_order(known.values())


def effects(before: Sequence[NamespaceReport], after: Sequence[NamespaceReport]) -> Iterator[Effect]:
    """Each key of a quota that would be used otherwise, or that would allow something else."""
    lines = {(quota.title, line.key): line for page in before for quota in page.quotas for line in quota.lines}
    for page in after:
        for quota in page.quotas:
            for line in quota.lines:
                old = lines.get((quota.title, line.key))
                if line.used is None or (old is not None and (old.used, old.limit) == (line.used, line.limit)):
                    continue
                was_over = old is not None and old.used is not None and nano_of(old.used) > nano_of(old.limit)
                is_over = nano_of(line.used) > nano_of(line.limit)
                verdict: Verdict = ("still over" if was_over else "over") if is_over else "fits"
                yield Effect(
                    quota.title, line.key, old.used if old else None, old.limit if old else None, line.used, line.limit,
                    verdict,
                )  # fmt: skip
