"""Estimates as people read them: a table of the clusters, and the reasons."""

from __future__ import annotations

from collections.abc import Iterator

from estimator.fit.explain import explain
from estimator.fit.model import NO_LIMIT, NO_OPINION
from interp.estimates import WorkloadAnswer


def table(answered: WorkloadAnswer) -> list[str]:
    """A headline and a line for each cluster."""
    in_sets = any(one.unit == "sets" for one in answered.clusters)
    rows = [["CLUSTER", *(["SETS"] if in_sets else []), "REPLICAS", "BOUND BY"]]
    for one in answered.clusters:
        sets = [_number(one.count)] if in_sets else []
        pods = "?" if one.problem else "any" if one.replicas is None else str(one.replicas)
        rows.append([one.cluster, *sets, pods, one.problem or one.binding or "nothing"])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    widths[-1] = 0  # the last column may be of any length
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return [str(answered.workload), *lines]


def explanations(answered: WorkloadAnswer) -> Iterator[str]:
    """Why, for each cluster and estimator."""
    for one in answered.clusters:
        for source in one.estimates:
            label = f"{one.cluster} ({source.estimator})" if len(one.estimates) > 1 else one.cluster
            yield explain(source.estimate, label)


def _number(count: int) -> str:
    return {NO_OPINION: "?", NO_LIMIT: "any"}.get(count, str(count))
