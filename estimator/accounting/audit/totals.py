"""Adding up bindings: what each namespace uses, by cluster and by priority class, its heaviest workloads, and findings.

A tally grows with namespaces, clusters and resources, not with bindings, so a million of them fit in little memory. The
order in which bindings come does not matter.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from estimator.accounting.audit.binding_checks import inspect, unreadable
from estimator.accounting.audit.drift import Contributions
from estimator.accounting.audit.findings import Findings, finding
from estimator.accounting.audit.owned_workloads import OwnedWorkloads
from estimator.accounting.audit.states import StateTally, add_states, is_moving
from estimator.accounting.demand import Binding, Demand, Part
from estimator.accounting.podless_bindings import NOT_AT_HAND, Untold, completed, says_no_pods, uncounted
from estimator.quotas.amounts import NanoAmounts, add, nano_of, no_amounts
from estimator.quotas.keys import count_key
from estimator.quotas.scopes import PodClass, is_best_effort
from interpreters.core.errors import QuantityError
from interpreters.core.karmada.releases import NEWEST, Release
from interpreters.core.quantity import NANO
from interpreters.core.resources import PODS

Entry = tuple[int, str, str]  # nano-units, workload, component ("" for all of it)


@dataclass(slots=True)
class NamespaceTally:
    """What one namespace uses."""

    bindings: int = 0
    unscheduled: int = 0
    used: NanoAmounts = field(default_factory=no_amounts)
    legacy: NanoAmounts = field(default_factory=no_amounts)
    by_cluster: dict[str, NanoAmounts] = field(default_factory=dict)
    by_pod_class: dict[PodClass, NanoAmounts] = field(default_factory=dict)
    provisional: NanoAmounts | None = None
    """How much of `used` was admitted and not seen yet; None when a ledger is not what is counted."""

    provisional_by_cluster: dict[str, NanoAmounts] = field(default_factory=dict)
    provisional_by_pod_class: dict[PodClass, NanoAmounts] = field(default_factory=dict)
    states: dict[str, StateTally] = field(default_factory=dict)
    workloads: dict[str, list[Entry]] = field(default_factory=dict)
    components: dict[str, list[Entry]] = field(default_factory=dict)


@dataclass(slots=True)
class Tally:
    """Everything an audit learns from bindings."""

    multi_template_kinds: Collection[tuple[str, str]] = frozenset()
    """(group, kind) of workloads with several pod templates: without components their accounting is the legacy one."""

    known: Mapping[str, Demand | Untold] = field(default_factory=dict)
    """What scripts say about single workloads, by their text."""

    families: OwnedWorkloads = field(default_factory=OwnedWorkloads)
    """Workloads that have an owner, as far as that is known."""

    is_workload: Callable[[str, str], bool] = lambda group, kind: False
    """Whether scripts can tell the pods of a (group, kind): if so, and nobody does, what it costs is missing."""

    most: int = 5
    """How many of the heaviest workloads and components are kept per namespace and resource."""

    unscheduled_sets: int = 0
    """What a binding without clusters counts as: nothing, or one set as in the ledger."""

    release: Release = NEWEST
    """The Karmada that has the bindings, or will."""

    bindings: int = 0
    ignored: dict[str, int] = field(default_factory=dict)
    namespaces: dict[str, NamespaceTally] = field(default_factory=dict)
    findings: Findings = field(default_factory=Findings)
    replaced: frozenset[str] = frozenset()
    """Workloads whose bindings are set aside instead of being counted, for they may change."""

    set_aside: dict[str, list[Binding]] = field(default_factory=dict)
    contributions: Contributions = field(default_factory=Contributions)

    def add(self, binding: Binding) -> None:
        """Count one binding. Its usage is the rule of `usage.py`, here in one pass over its components."""
        resource = binding.spec.resource
        namespace = resource.namespace or binding.metadata.namespace
        group = resource.api_version.rpartition("/")[0]
        name = resource.name or binding.metadata.name
        place = f"{namespace}/{name}" if namespace else name
        workload = f"{resource.kind}.{group} {place}" if group else f"{resource.kind} {place}"
        self.bindings += 1
        if workload in self.replaced:
            self.set_aside.setdefault(workload, []).append(binding)
            return
        page = self.namespaces.get(namespace)
        if page is None:
            page = self.namespaces[namespace] = NamespaceTally()
        page.bindings += 1
        said = self.known.get(workload)
        known = None if isinstance(said, Untold) else said
        is_told = not says_no_pods(binding.spec)
        if not is_told:
            if known is not None:
                binding = completed(binding, known)
            elif isinstance(said, Untold) or self.is_workload(group, resource.kind):
                why = said if isinstance(said, Untold) else NOT_AT_HAND
                self.findings.add(finding("uncounted", workload, uncounted(why)))
        if workload in self.families.members:
            self.families.counted.add(workload)
        try:
            used = self._add_demand(page, workload, binding.spec)
        except QuantityError as error:
            self.findings.add(finding("unreadable", workload, unreadable(binding.spec) or str(error)))
        else:
            key = count_key(group, resource.kind)
            page.used[key] = page.used.get(key, 0) + NANO
            self.contributions.add(namespace, workload, binding.spec, used, is_told=is_told)
            if is_moving(binding.spec):
                add_states(page.states, binding, used)
        has_templates = (group, resource.kind) in self.multi_template_kinds
        for found in inspect(binding, workload, has_templates=has_templates, known=known, release=self.release):
            self.findings.add(found)

    def _add_demand(self, page: NamespaceTally, workload: str, demand: Demand) -> NanoAmounts:
        """Add up; what it all requests, the number of pods aside."""
        targets = demand.clusters or ()
        if not targets:
            page.unscheduled += 1
            if not self.unscheduled_sets:
                return no_amounts()
        whole = bool(demand.components)
        sets = len(targets) or self.unscheduled_sets
        parts = demand.components or demand.parts
        replicas = 0 if whole else sum(target.replicas for target in targets)
        counted = [(part, part.replicas * sets if whole or not targets else replicas) for part in parts]
        requested = [(part, pods, _requested(part)) for part, pods in counted if pods > 0]  # all readable, or no sum
        total = no_amounts()
        largest = no_amounts()
        every = 0
        for part, pods, request in requested:
            every += pods
            used = self._add_part(page, workload, part.name, pods, request, largest)
            add(total, used)
            pod = PodClass(part.priority_class, is_best_effort(request))
            by_class = page.by_pod_class.get(pod)
            if by_class is None:
                by_class = page.by_pod_class[pod] = no_amounts()
            add(by_class, used)
            by_class[PODS] = by_class.get(PODS, 0) + pods * NANO
        for resource, nano in largest.items():
            page.legacy[resource] = page.legacy.get(resource, 0) + nano * every
        for resource, nano in total.items():
            page.used[resource] = page.used.get(resource, 0) + nano
            tops = page.workloads.get(resource)
            if tops is None:
                tops = page.workloads[resource] = []
            if len(tops) < self.most or (tops and nano >= tops[0][0]):
                _offer(tops, (nano, workload, ""), self.most)
        page.used[PODS] = page.used.get(PODS, 0) + every * NANO
        self._add_clusters(page, demand, total, every, replicas)
        return total

    def _add_part(
        self, page: NamespaceTally, workload: str, name: str, pods: int, request: NanoAmounts, largest: NanoAmounts
    ) -> NanoAmounts:
        used = no_amounts()
        for resource, nano in request.items():
            if nano > largest.get(resource, 0):
                largest[resource] = nano
            used[resource] = amount = nano * pods
            tops = page.components.get(resource)
            if tops is None:
                tops = page.components[resource] = []
            if len(tops) < self.most or (tops and amount >= tops[0][0]):
                _offer(tops, (amount, workload, name), self.most)
        return used

    def _add_clusters(self, page: NamespaceTally, demand: Demand, total: NanoAmounts, pods: int, replicas: int) -> None:
        targets = demand.clusters or ()
        for target in targets:
            amounts = page.by_cluster.get(target.name)
            if amounts is None:
                amounts = page.by_cluster[target.name] = no_amounts()
            # Sets are equal in every cluster; replicas are shared out. Either way the division leaves no rest.
            share, of = (1, len(targets)) if demand.components else (max(target.replicas, 0), max(replicas, 1))
            for resource, nano in total.items():
                amounts[resource] = amounts.get(resource, 0) + nano * share // of
            amounts[PODS] = amounts.get(PODS, 0) + pods * NANO * share // of


def _requested(part: Part) -> NanoAmounts:
    """What one pod requests; less than nothing, which `inspect` finds, is nothing."""
    return NanoAmounts({resource: nano for resource, text in part.request.items() if (nano := nano_of(text)) > 0})


def _offer(tops: list[Entry], entry: Entry, most: int) -> None:
    """Keep the entry if it is among the largest. Entries have a total order, so that of arrival does not matter."""
    if len(tops) < most:
        heapq.heappush(tops, entry)
    elif tops and entry > tops[0]:
        heapq.heapreplace(tops, entry)
