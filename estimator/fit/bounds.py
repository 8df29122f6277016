"""How much one question may hold. An estimate costs its components times the nodes, and cannot be stopped.

The numbers are far above what any workload has, and keep an estimate over thousands of nodes within seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from estimator.fit.model import AssumedWorkload
from interpreters.core.errors import RequestError
from interpreters.core.requirements import Component, ComponentRequirements, NodeClaim

MOST_COMPONENTS: Final = 256  # of one set
MOST_ASSUMED: Final = 2048  # components of all assumed workloads together
MOST_RESOURCES: Final = 32  # that the components of a set ask for, each counted once
MOST_TERMS: Final = 1024  # labels, terms and expressions of all node claims together; each looks at every node
MOST_CLAIMED: Final = 8192  # values and tolerations of them


def check_components(components: Sequence[Component], where: str = "components") -> None:
    """Raises `RequestError` for a set that holds too much."""
    check_count(len(components), MOST_COMPONENTS, where, "components")
    _check_requirements((one.replica_requirements for one in components), where)


def check_requirements(requirements: ComponentRequirements | None, where: str = "replicaRequirements") -> None:
    _check_requirements([requirements], where)


def check_assumed(workloads: Sequence[AssumedWorkload], where: str = "assumedWorkloads") -> None:
    check_count(sum(max(1, len(one.components)) for one in workloads), MOST_ASSUMED, where, "components in all")
    _check_requirements((one.replica_requirements for workload in workloads for one in workload.components), where)


def _check_requirements(needs: Iterable[ComponentRequirements | None], where: str) -> None:
    resources: set[str] = set()
    terms = claimed = 0
    for need in needs:
        if need is not None:
            resources |= need.resource_request.keys()
            if need.node_claim is not None:
                more_terms, more_claimed = _sizes(need.node_claim)
                terms, claimed = terms + more_terms, claimed + more_claimed
    check_count(len(resources), MOST_RESOURCES, where, "different resources")
    check_count(terms, MOST_TERMS, where, "labels, terms and expressions in node claims")
    check_count(claimed, MOST_CLAIMED, where, "values and tolerations in node claims")


def _sizes(claim: NodeClaim) -> tuple[int, int]:
    terms = claim.hard_node_affinity.node_selector_terms if claim.hard_node_affinity else []
    asked = [one for term in terms for one in (*term.match_expressions, *term.match_fields)]
    values = sum(len(one.values) for one in asked)
    return len(claim.node_selector) + len(terms) + len(asked), len(claim.tolerations) + values


def check_count(count: int, most: int, where: str, what: str) -> None:
    """Raises `RequestError` when there are too many."""
    if count > most:
        raise RequestError(f"{where}: expected at most {most} {what}, got {count}")
