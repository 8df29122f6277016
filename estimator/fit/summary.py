"""Estimates from a Cluster object alone: its resource summary and resource models, without nodes and pods.

The summary says what is free in all (allocatable - allocated - allocating, never below zero); models say how many nodes
of which size have it. Of a node only its grade is known, so it counts with its grade's minimum, and takes 110 pods.
`lenient` follows an older rule instead: a request that lies inside a grade's range is taken to fit a node of the grade
once. A resource that the models do not name is taken to be on none of the nodes. All arithmetic is exact: amounts of
any format compare as they should.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from estimator.fit.amounts import pod_amount
from estimator.fit.cluster_object import ClusterShape, ModelingShape, ModelShape, shaped
from estimator.fit.fitting import Columns, Wanted, fit_sets, place_all, place_once
from estimator.fit.free_amounts import column
from estimator.fit.model import NO_LIMIT, AssumedWorkload, Code, Estimate, PluginResult, Shortfall
from interpreters.core.errors import InputError, QuantityError
from interpreters.core.quantity import ZERO, Quantity
from interpreters.core.requirements import Component, ReplicaRequirements
from interpreters.core.resources import PODS

PODS_OF_A_MODEL_NODE: Final = 110

SUMMARY: Final = "ResourceSummary"
MODELS: Final = "ResourceModels"

_SUMMED: Final = ("allocatable", "allocated", "allocating")

Requests = dict[str, Quantity]
"""What one pod asks for; only what is above zero."""


@dataclass(frozen=True, slots=True)
class Part:
    """The pods of one component in a set, at least one."""

    name: str
    replicas: int
    request: Requests


@dataclass(frozen=True, slots=True)
class Summary:
    """`status.resourceSummary`: what is free in the whole cluster, and the nodes of each grade."""

    free: Mapping[str, Quantity]
    grades: tuple[Grade, ...]

    @staticmethod
    def of(cluster: Mapping[str, Any]) -> Summary | None:
        """Read a Karmada Cluster object; None when it has no summary. Raises `InputError`."""
        shape = shaped(cluster, ClusterShape)
        status = shape.status.resource_summary if shape.status else None
        if status is None:
            return None
        allocatable, allocated, allocating = (
            _read(getattr(status, field), f"status.resourceSummary.{field}") for field in _SUMMED
        )
        free = {
            resource: max(amount - allocated.get(resource, ZERO) - allocating.get(resource, ZERO), ZERO)
            for resource, amount in allocatable.items()
        }
        models = (shape.spec.resource_models if shape.spec else None) or ()
        return Summary(free, _grades(models, status.allocatable_modelings or ()))

    def without(self, assumed: Sequence[AssumedWorkload]) -> Summary:
        """What is left beside the assumed workloads; a summary knows no nodes, so none of them is left out."""
        taken = _total([part for workload in assumed for part in _parts(workload.components)])
        free = {name: max(amount - taken.get(name, ZERO), ZERO) for name, amount in self.free.items()}
        return Summary(free, self.grades)


@dataclass(frozen=True, slots=True)
class Grade:
    """So many nodes with at least `least` and less than `most` of each resource."""

    nodes: int
    least: Mapping[str, Quantity]
    most: Mapping[str, Quantity]

    @staticmethod
    def of(model: ModelShape, nodes: int) -> Grade:
        ranges, where = model.ranges or (), f"spec.resourceModels: grade {model.grade}"
        return Grade(
            nodes=nodes,
            least=_read({item.name: item.min for item in ranges}, where),
            most=_read({item.name: item.max for item in ranges if item.max is not None}, where),
        )

    def amount(self, resource: str, requests: Sequence[Requests], lenient: bool) -> Quantity:
        """What a node of the grade counts with: its minimum, or leniently the largest request inside its range."""
        least = self.least.get(resource, ZERO)
        inside = [
            request[resource]
            for request in requests
            if lenient and resource in request and least < request[resource] < self.most.get(resource, least)
        ]
        return max([least, *inside])


def general_replicas(
    cluster: Mapping[str, Any],
    requirements: ReplicaRequirements | None,
    *,
    assumed: Sequence[AssumedWorkload] = (),
    use_models: bool = True,
    lenient: bool = False,
) -> Estimate:
    """How many pods like this fit: by models where they are usable, by the summary otherwise; never more than pods."""
    summary = Summary.of(cluster)
    if summary is None:
        return _no_summary(cluster, "replicas")
    summary = summary.without(assumed)
    pod = Part("pod", 1, _positive(requirements.amounts()) if requirements else {})
    results = [_ceiling({PODS: Quantity.of(1)}, summary)]
    nodes = _model_nodes(summary, [pod], assumed, lenient) if use_models and requirements is not None else None
    if nodes is not None:
        count, _ = place_all(nodes, _wanted(pod, nodes))
        results.append(_by_models(count))
    elif pod.request:
        results.append(_ceiling(pod.request, summary))
    return _smallest(results, "replicas", 1)


def general_sets(
    cluster: Mapping[str, Any],
    components: Sequence[Component],
    *,
    assumed: Sequence[AssumedWorkload] = (),
    use_models: bool = True,
    lenient: bool = False,
) -> Estimate:
    """How many whole sets fit: by pods, by the summary, and by models where they are usable; the smallest counts."""
    summary = Summary.of(cluster)
    if summary is None:
        return _no_summary(cluster, "sets")
    summary = summary.without(assumed)
    parts = _parts(components)
    if not parts:
        reason = "a set without pods fits any number of times"
        return Estimate("sets", NO_LIMIT, Code.SUCCESS, [reason], method="general")
    results = [_ceiling(_total(parts), summary)]
    nodes = _model_nodes(summary, parts, assumed, lenient) if use_models else None
    if nodes is not None:
        fit = fit_sets(nodes, [_wanted(part, nodes) for part in parts], NO_LIMIT)
        results.append(_by_models(fit.sets, "" if fit.failed is None else parts[fit.failed].name))
    return _smallest(results, "sets", sum(part.replicas for part in parts))


def _parts(components: Iterable[Component]) -> list[Part]:
    return [Part(part.name, part.replicas, _positive(part.amounts())) for part in components if part.replicas > 0]


def _total(parts: Sequence[Part]) -> Requests:
    """What all the pods take together, pods included."""
    total: Requests = {}
    for part in parts:
        for resource, amount in (part.request | {PODS: Quantity.of(1)}).items():
            total[resource] = total.get(resource, ZERO) + amount * part.replicas
    return total


def _ceiling(total: Requests, summary: Summary) -> PluginResult:
    """The summary divided by what one pod, or one set, takes."""
    sets = {resource: summary.free.get(resource, ZERO) // amount for resource, amount in total.items()}
    scarcest = min(sets, key=lambda resource: (sets[resource], resource))
    count = min(sets[scarcest], NO_LIMIT)
    wanted, free = total[scarcest] * (count + 1), summary.free.get(scarcest, ZERO)
    lack = Shortfall(scarcest, str(wanted), str(free), str(wanted - free))
    reason = f"the cluster has {free} {scarcest} free, {lack.lacking} short of {count + 1} times {total[scarcest]}"
    return PluginResult(SUMMARY, _code(count), count, [reason], f"free {scarcest}", shortfalls=[lack])


def _by_models(count: int, component: str = "") -> PluginResult:
    count = min(count, NO_LIMIT)
    what = f"no place for {component or 'the next pod'} on a node of any grade"
    return PluginResult(MODELS, _code(count), count, [what], "node grades")


def _grades(models: Sequence[ModelShape], modelings: Sequence[ModelingShape]) -> tuple[Grade, ...]:
    """The models with their nodes, by grade; none when either is missing or a count makes no sense."""
    counts: dict[int, int] = {}
    for item in modelings:
        if item.count < 0:
            return ()
        counts[item.grade] = counts.get(item.grade, 0) + item.count
    by_grade = {model.grade: model for model in models} if counts else {}
    return tuple(Grade.of(by_grade[grade], counts.get(grade, 0)) for grade in sorted(by_grade))


def _read(texts: Mapping[str, str | int | float] | None, where: str) -> dict[str, Quantity]:
    """A resource list of the object as exact numbers. Raises `InputError` with the place."""
    read = {}
    for resource, text in (texts or {}).items():
        try:
            read[resource] = Quantity.parse(text)
        except QuantityError as error:
            raise InputError(f"{where}.{resource}: {error}") from None
    return read


def _model_nodes(
    summary: Summary, parts: Sequence[Part], assumed: Sequence[AssumedWorkload], lenient: bool
) -> Columns | None:
    """What is free on the nodes that the models stand for, smallest grade first; None when there are no models."""
    if not summary.grades:
        return None
    promised = [_parts(workload.components) for workload in assumed]
    requests = [part.request for set_ in (parts, *promised) for part in set_]
    asked = {resource for request in requests for resource in request}
    nodes: dict[str, list[int]] = {resource: [] for resource in asked}
    for grade in summary.grades:
        for resource in asked:
            nodes[resource] += [grade.amount(resource, requests, lenient).nano] * grade.nodes
    count = sum(grade.nodes for grade in summary.grades)
    free: Columns = {PODS: column([PODS_OF_A_MODEL_NODE] * count), **{name: column(row) for name, row in nodes.items()}}
    for set_ in promised:
        placed = place_once(free, [_wanted(part, free) for part in set_])
        free = placed.left if placed.sets else free
    return free


def _wanted(part: Part, nodes: Columns) -> Wanted:
    amounts = {resource: amount.nano for resource, amount in part.request.items()}
    return Wanted.of(part.name, part.replicas, amounts, np.ones(len(nodes[PODS]), dtype=np.bool_))


def _smallest(results: Sequence[PluginResult], unit: str, pods: int) -> Estimate:
    tightest = min(results, key=lambda result: result.count)
    return Estimate(
        unit=unit,
        count=tightest.count,
        code=tightest.code,
        reasons=[f"{tightest.plugin}: {reason}" for reason in tightest.reasons],
        binding=f"{tightest.plugin}: {tightest.binding}",
        plugins=list(results),
        shortfalls=tightest.shortfalls,
        replicas=tightest.count * pods,
        method="general",
    )


def _no_summary(cluster: Mapping[str, Any], unit: str) -> Estimate:
    name = (cluster.get("metadata") or {}).get("name", "")
    reason = f"cluster {name} has no resource summary"
    return Estimate(unit, 0, Code.UNSCHEDULABLE, [reason], reason, replicas=0, method="general")


def _positive(amounts: Mapping[str, Quantity]) -> Requests:
    return {
        resource: pod_amount(resource, amount)
        for resource, amount in amounts.items()
        if amount > ZERO and resource != PODS
    }


def _code(count: int) -> Code:
    return Code.SUCCESS if count else Code.UNSCHEDULABLE
