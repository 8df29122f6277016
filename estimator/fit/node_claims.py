"""Node claims: which nodes a pod may run on, and why not on the others.

As in Kubernetes: the node selector AND one of the affinity terms must hold, taints that keep pods away must be
tolerated, and a node that is closed to new pods takes only those that tolerate just that. An affinity without terms, an
empty term and a term with an invalid requirement match nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

import msgspec
import numpy as np

from estimator.fit.claim_match import ClaimMatch, Mask
from estimator.fit.model import Taint
from estimator.fit.node_index import NodeIndex
from interpreters.core.requirements import NodeClaim, NodeSelectorRequirement, NodeSelectorTerm, Toleration

CLOSED: Final = "were unschedulable"
NOT_SELECTED: Final = "didn't match the pod's node affinity/selector"
_KEEPS_AWAY: Final = ("NoSchedule", "NoExecute")
_CLOSED_TAINT: Final = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")
_KEPT_MATCHES: Final = 512

_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_LABEL_VALUE: Final = re.compile(r"([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?")
_LABEL_NAME: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")
_LABEL_PREFIX: Final = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")


def match_claim(claim: NodeClaim | None, node_index: NodeIndex) -> ClaimMatch:
    """Judge all nodes; the answer for a claim is kept with the index."""
    key = msgspec.json.encode(claim)
    found = node_index.matches.get(key)
    if found is None:
        if len(node_index.matches) >= _KEPT_MATCHES:
            node_index.matches.clear()
        found = node_index.matches[key] = _judge(claim or NodeClaim(), node_index)
    return found


def tolerates(tolerations: list[Toleration], taint: Taint) -> bool:
    return any(_tolerates(toleration, taint) for toleration in tolerations)


def _judge(claim: NodeClaim, node_index: NodeIndex) -> ClaimMatch:
    barrier_reasons = [_barrier(claim.tolerations, taints, closed) for taints, closed in node_index.barriers.values]
    wordings = tuple(dict.fromkeys([reason for reason in barrier_reasons if reason] + [NOT_SELECTED]))
    numbers = [wordings.index(reason) if reason else -1 for reason in barrier_reasons]
    refusal = node_index.barriers.spread(numbers, np.intp)
    unselected = ~_selected(claim, node_index)
    refusal = np.where((refusal < 0) & unselected, wordings.index(NOT_SELECTED), refusal)
    return ClaimMatch(refusal < 0, refusal, wordings)


def _barrier(tolerations: list[Toleration], taints: tuple[Taint, ...], closed: bool) -> str | None:
    """Why a node with these taints keeps the pod away, in the order in which the Kubernetes scheduler looks."""
    if closed and not tolerates(tolerations, _CLOSED_TAINT):
        return CLOSED
    for taint in taints:
        if taint.effect in _KEEPS_AWAY and not tolerates(tolerations, taint):
            return f"had untolerated taint {taint}"
    return None


def _tolerates(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in ("", "Equal"):
        return toleration.value == taint.value
    return toleration.operator == "Exists"


def _selected(claim: NodeClaim, node_index: NodeIndex) -> Mask:
    mask = np.ones(len(node_index), dtype=np.bool_)
    for key, value in claim.node_selector.items():
        kinds = node_index.label(key)
        mask &= kinds.spread([found == value for found in kinds.values], np.bool_)
    if claim.hard_node_affinity is not None:
        terms = claim.hard_node_affinity.node_selector_terms
        mask &= np.logical_or.reduce(
            [_term(term, node_index) for term in terms] or [np.zeros(len(node_index), np.bool_)]
        )
    return mask


def _term(term: NodeSelectorTerm, node_index: NodeIndex) -> Mask:
    mask = np.full(len(node_index), bool(term.match_expressions or term.match_fields))
    for requirement in term.match_expressions:
        mask &= _label_matches(requirement, node_index)
    for requirement in term.match_fields:
        mask &= _field_matches(requirement, node_index)
    return mask


def _label_matches(requirement: NodeSelectorRequirement, node_index: NodeIndex) -> Mask:
    if not _valid_label_requirement(requirement):
        return np.zeros(len(node_index), dtype=np.bool_)
    kinds, wanted = node_index.label(requirement.key), frozenset(requirement.values)
    return kinds.spread([_value_matches(requirement, wanted, value) for value in kinds.values], np.bool_)


def _value_matches(requirement: NodeSelectorRequirement, wanted: frozenset[str], value: str | None) -> bool:
    match requirement.operator:
        case "In":
            return value in wanted
        case "NotIn":
            return value is None or value not in wanted
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt":
            found = _integer(value)
            bound = _integer(requirement.values[0])
            if found is None or bound is None:
                return False
            return found > bound if requirement.operator == "Gt" else found < bound
    return False


def _field_matches(requirement: NodeSelectorRequirement, node_index: NodeIndex) -> Mask:
    """In or NotIn with one value; a field other than `metadata.name` is empty on every node."""
    if requirement.operator not in ("In", "NotIn") or len(requirement.values) != 1:
        return np.zeros(len(node_index), dtype=np.bool_)
    value = requirement.values[0]
    equal: Mask
    if requirement.key == "metadata.name":
        equal = np.arange(len(node_index)) == node_index.index.get(value, -1)
    else:
        equal = np.full(len(node_index), value == "")
    return equal if requirement.operator == "In" else ~equal


def _valid_label_requirement(requirement: NodeSelectorRequirement) -> bool:
    counts = {
        "In": len(requirement.values) > 0,
        "NotIn": len(requirement.values) > 0,
        "Exists": not requirement.values,
        "DoesNotExist": not requirement.values,
        "Gt": len(requirement.values) == 1 and _integer(requirement.values[0]) is not None,
        "Lt": len(requirement.values) == 1 and _integer(requirement.values[0]) is not None,
    }
    prefix, slash, name = requirement.key.rpartition("/")
    return (
        counts.get(requirement.operator, False)
        and _LABEL_NAME.fullmatch(name) is not None
        and (not slash or (_LABEL_PREFIX.fullmatch(prefix) is not None and len(prefix) <= 253))
        and all(_LABEL_VALUE.fullmatch(value) for value in requirement.values)
    )


@lru_cache(16384)  # the labels of nodes are asked about again and again
def _integer(text: str | None) -> int | None:
    if text is None or len(text) > 30 or not _INTEGER.fullmatch(text):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None
