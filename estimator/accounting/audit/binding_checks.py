"""What one binding shows by itself: duplicate names, missing requests, milli-bytes, clusters, and old accounting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from estimator.accounting.audit.findings import Finding, finding
from estimator.accounting.demand import Binding, BindingSpec, Demand, Part, PlacementRule, ScheduledTarget, Target
from estimator.accounting.ledger.charges import Unadmitted
from estimator.accounting.readable import readable, told_apart
from estimator.accounting.usage import usage
from estimator.quotas.amounts import NanoAmounts, has_fraction_of_a_byte, nano_of, no_amounts
from interpreters.core.errors import QuantityError
from interpreters.core.karmada.releases import NEWEST, Release

_LONGEST_NAME: Final = 317  # of a resource: a domain, a slash and a name


def inspect(
    binding: Binding, workload: str, *, has_templates: bool, known: Demand | None, release: Release = NEWEST
) -> Iterator[Finding]:
    """The findings of one binding. `has_templates`: its kind is known to have several pod templates; `known`: what a
    script says about the workload itself; `release`: the Karmada that has the binding, or will."""
    spec = binding.spec
    names: set[str] = set()
    for part in spec.components or spec.parts:
        if part.name in names:
            yield finding("duplicate-component", workload, f"two components are named {part.name!r}")
        names.add(part.name)
        yield from _requests(part, workload)
    for problem in negatives(spec):
        yield finding("negative", workload, problem)
    if not spec.components and spec.replicas and (len(known.parts) > 1 if known is not None else has_templates):
        yield finding("legacy-maximum", workload, _old_accounting(spec, known))
    for task in spec.graceful_eviction_tasks or ():
        if task.purge_mode and task.purge_mode not in release.purge_modes:
            evidence = f"is evicted from {task.from_cluster} by purgeMode {task.purge_mode}, which Karmada {release}"
            yield finding("purge-mode", workload, f"{evidence} does not know")
    for target in spec.clusters or ():
        if target.components is not None and spec.components:
            yield from _scheduled(target, spec.components, workload)
    if spec.placement is not None and spec.clusters:
        yield from _clusters(spec.placement, spec.clusters, workload)


def _scheduled(target: ScheduledTarget, wanted: list[Part], workload: str) -> Iterator[Finding]:
    """What a cluster was given, beside what the workload wants now."""
    got = {part.name: part.replicas for part in target.components or ()}
    wants = {part.name: part.replicas for part in wanted}
    differing = [name for name in sorted({*got, *wants}) if got.get(name) != wants.get(name)]
    if differing:
        parts = ", ".join(f"{name} {got.get(name, 0)} of {wants.get(name, 0)}" for name in differing)
        yield finding("scheduled-differs", workload, f"cluster {target.name} was scheduled {parts}")


def negatives(demand: Demand) -> Iterator[str]:
    """What asks for less than nothing. It must not pay for anything else, so it counts as nothing."""
    for part in demand.components or demand.parts:
        if part.replicas < 0:
            yield f"component {part.name} has {part.replicas} replicas"
        for resource, text in part.request.items():
            if (text.startswith("-") if isinstance(text, str) else text < 0) and _is_negative(text):
                yield f"component {part.name} requests {resource}: {text}"
    if not demand.components:
        for target in demand.clusters or ():
            if target.replicas < 0:
                yield f"cluster {target.name} has {target.replicas} replicas"


def impossible(demand: Demand) -> Iterator[str]:
    """What no ledger takes: less than nothing, and names longer than Kubernetes has any."""
    yield from negatives(demand)
    names = {("component's priority class", part.priority_class) for part in demand.parts}
    names |= {("cluster", target.name) for target in demand.targets}
    names |= {("resource", resource) for part in demand.parts for resource in part.request}
    for what, name in sorted(names):
        if len(name) > _LONGEST_NAME:
            yield f"the name of a {what} has {len(name)} characters, {_LONGEST_NAME} are the most: {name[:40]}…"


def unreadable(demand: Demand) -> str:
    """The first amount that cannot be read, with the component and the resource; empty when all can."""
    for part in demand.components or demand.parts:
        for resource, text in part.request.items():
            try:
                nano_of(text)
            except QuantityError as error:
                return f"component {part.name} requests {resource}: {error}"
    return ""


def not_admitted(stranger: Unadmitted) -> Finding:
    """Of a workload that the ledger knows only from a question about it."""
    asked, charged = (_spelled(amounts) for amounts in (stranger.amounts, stranger.charged or no_amounts()))
    return finding("not-admitted", str(stranger.workload), f"Karmada asked about {asked}; charged is {charged}")


def _spelled(amounts: NanoAmounts) -> str:
    named = [f"{name} {readable(name, amounts[name])}" for name in sorted(amounts) if not name.startswith("count/")]
    return ", ".join(named) or "nothing"


def _old_accounting(spec: BindingSpec, known: Demand | None) -> str:
    templates = f"{spec.replicas} replicas of one pod template instead of components"
    if known is None:
        return templates
    try:
        charged, needed = (usage(demand, unscheduled_sets=1) for demand in (Demand(**_legacy_fields(spec)), known))
    except QuantityError:
        return templates
    resources = sorted(set(charged) | set(needed))
    figures = (
        "{} {} instead of {}".format(name, *told_apart(name, charged.get(name, 0), needed.get(name, 0)))
        for name in resources
    )
    return f"{templates}; one set is charged {', '.join(figures)}"


def _legacy_fields(spec: BindingSpec) -> dict[str, Any]:
    return {"replicas": spec.replicas, "replica_requirements": spec.replica_requirements}


def _requests(part: Part, workload: str) -> Iterator[Finding]:
    request = part.request
    if part.replicas > 0 and not ("cpu" in request and "memory" in request):
        lacking = " and ".join(name for name in ("cpu", "memory") if name not in request)
        yield finding("requests-missing", workload, f"component {part.name} requests no {lacking}")
    for resource, text in request.items():
        if resource != "cpu" and type(text) is str and text[-1:] in ("m", "u", "n") and _is_fraction(resource, text):
            evidence = f"component {part.name} requests {resource}: {text}, which is a fraction of a byte"
            yield finding("milli-memory", workload, evidence)


def _is_negative(text: str | int | float) -> bool:
    try:
        return nano_of(text) < 0
    except QuantityError:
        return False  # found unreadable where it is added up


def _is_fraction(resource: str, text: str) -> bool:
    try:
        return has_fraction_of_a_byte(resource, text)
    except QuantityError:
        return False  # found unreadable where it is added up


def _clusters(placement: PlacementRule, clusters: Sequence[Target], workload: str) -> Iterator[Finding]:
    for rule in placement.spread_constraints or ():
        if rule.spread_by_field == "cluster" and 0 < rule.max_groups < len(clusters):
            evidence = f"{len(clusters)} clusters, the policy says at most {rule.max_groups}"
            yield finding("too-many-clusters", workload, evidence)
    allowed = placement.cluster_affinity.cluster_names if placement.cluster_affinity else None
    if allowed:
        strange = [target.name for target in clusters if target.name not in allowed]
        if strange:
            evidence = f"runs in {', '.join(sorted(strange))}, which the policy does not name"
            yield finding("too-many-clusters", workload, evidence)
