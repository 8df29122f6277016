"""How the scheduler puts several estimators' answers together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from estimator.fit.model import NO_LIMIT, NO_OPINION, Code, Estimate


def merge_estimates(clusters: Iterable[str], answers: Iterable[Mapping[str, int]], replicas: int) -> dict[str, int]:
    """Per cluster the smallest answer.

    `answers` holds each estimator's numbers by cluster. -1 (no opinion) is skipped, and so is a cluster that an
    estimator does not mention; a cluster that nobody limits gets the workload's own replica count.
    """
    merged = dict.fromkeys(clusters, NO_LIMIT)
    for answer in answers:
        for cluster, count in answer.items():
            if cluster in merged and count != NO_OPINION:
                merged[cluster] = min(merged[cluster], count)
    return {cluster: replicas if count == NO_LIMIT else count for cluster, count in merged.items()}


def tightest(estimates: Sequence[Estimate]) -> Estimate:
    """Of several estimates for one cluster the one that counts: one that failed, or else the smallest."""
    failed = [estimate for estimate in estimates if estimate.code is Code.ERROR]
    return failed[0] if failed else min(estimates, key=lambda estimate: estimate.count)
