"""Estimates from a Cluster object alone: its resource summary and resource models, without nodes and pods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from estimator.model import Estimate
from interpreters.core.requirements import Component, ReplicaRequirements


def general_replicas(
    cluster: Mapping[str, Any],
    requirements: ReplicaRequirements | None,
    *,
    use_models: bool = True,
    lenient: bool = False,
) -> Estimate:
    raise NotImplementedError


def general_sets(
    cluster: Mapping[str, Any], components: Sequence[Component], *, use_models: bool = True, lenient: bool = False
) -> Estimate:
    raise NotImplementedError
