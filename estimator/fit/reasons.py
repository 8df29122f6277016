"""Why the next pod finds no place, read from the very columns the number was computed from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from estimator.fit.amounts import spelled
from estimator.fit.claim_match import ClaimMatch
from estimator.fit.fitting import Columns, Wanted
from estimator.fit.free_amounts import LARGEST, Column
from estimator.fit.model import ComponentMatch, NextSet, NodeReason, Shortfall
from estimator.fit.node_index import NodeIndex
from interpreters.core.resources import PODS

TOO_MANY_PODS: Final = "too many pods"
_INSUFFICIENT: Final = "insufficient "


def insufficient(resource: str) -> str:
    return TOO_MANY_PODS if resource == PODS else _INSUFFICIENT + resource


def is_shortage(reason: str) -> bool:
    """Whether a node gives this reason because it is too full, rather than closed to the pod."""
    return reason == TOO_MANY_PODS or reason.startswith(_INSUFFICIENT)


def component_match(wanted: Wanted, match: ClaimMatch) -> ComponentMatch:
    return ComponentMatch(wanted.name, wanted.replicas, len(match.admitted), match.count, match.reasons())


def next_set(wanted: Wanted, missing: int, left: Columns, match: ClaimMatch, node_index: NodeIndex) -> NextSet:
    """What the first pod without a place meets on each node; a node may lack several resources."""
    size = len(node_index)
    lacking = {
        resource: _lacking(amount, left.get(resource, np.zeros(size, dtype=np.int64)))
        for resource, amount in wanted.amounts.items()
    }
    short = [
        NodeReason(insufficient(resource), nodes)
        for resource, lack in lacking.items()
        if (nodes := int((match.admitted & (lack > 0)).sum()))
    ]
    reasons = match.reasons() + sorted(short, key=lambda reason: (-reason.nodes, reason.reason))
    best = _closest(wanted, lacking, match)
    shortfalls = [] if best is None else _shortfalls(wanted, lacking, best)
    name = "" if best is None else node_index.nodes[best].name
    return NextSet(wanted.name, missing, wanted.replicas, size, reasons, name, shortfalls)


def sentence(stop: NextSet) -> str:
    """`0/5 nodes are available: 2 had untolerated taint {gpu: true}, 3 insufficient cpu`."""
    counted = ", ".join(f"{reason.nodes} {reason.reason}" for reason in stop.reasons)
    return f"0/{stop.nodes} nodes are available" + (f": {counted}" if counted else "")


def _lacking(amount: int, free: Column) -> Column:
    lack: Column = np.maximum(amount - (free.astype(object) if amount > LARGEST else free), 0)
    return lack


def _closest(wanted: Wanted, lacking: Mapping[str, Column], match: ClaimMatch) -> int | None:
    """The admitted node whose scarcest resource is nearest to enough, in proportion to what is asked."""
    if not match.admitted.any():
        return None
    shares = [(lack / wanted.amounts[resource]).astype(np.float64) for resource, lack in lacking.items()]
    worst = np.where(match.admitted, np.maximum.reduce(shares), np.inf)
    return int(worst.argmin())


def _shortfalls(wanted: Wanted, lacking: Mapping[str, Column], node: int) -> list[Shortfall]:
    found = [(resource, amount, int(lacking[resource][node])) for resource, amount in wanted.amounts.items()]
    return [
        Shortfall(resource, spelled(resource, amount), spelled(resource, amount - lack), spelled(resource, lack))
        for resource, amount, lack in found
        if lack > 0
    ]
