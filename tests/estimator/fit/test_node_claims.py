"""Node claims: every operator, every toleration, every reason, as Kubernetes judges them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from estimator.fit.model import Node
from estimator.fit.node_claims import match_claim
from estimator.fit.node_index import NodeIndex
from interpreters.core.requirements import NodeClaim
from tests.estimator.fit.worlds import node

NODES = [
    node("plain", labels={"disk": "ssd", "gen": "2"}),
    node("old", labels={"disk": "hdd", "gen": "10", "zone": ""}),
    node("bare"),
    node("odd", labels={"gen": "two"}),
]


def admitted(claim: dict[str, Any] | None, nodes: list[dict[str, Any]]) -> list[str]:
    node_index = NodeIndex(Node.of(each) for each in nodes)
    match = match_claim(msgspec.convert(claim, NodeClaim | None), node_index)
    return [each.name for each, yes in zip(node_index.nodes, match.admitted, strict=True) if yes]


def expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"key": key, "operator": operator, "values": list(values)}


def affinity(*terms: dict[str, Any]) -> dict[str, Any]:
    return {"hardNodeAffinity": {"nodeSelectorTerms": list(terms)}}


def labelled(*expressions: dict[str, Any]) -> dict[str, Any]:
    return affinity({"matchExpressions": list(expressions)})


def named(operator: str, *values: str) -> dict[str, Any]:
    return affinity({"matchFields": [expression("metadata.name", operator, *values)]})


EVERYONE = ["plain", "old", "bare", "odd"]

SELECTIONS = [
    # claim                                                                     admitted
    (None, EVERYONE),
    ({}, EVERYONE),
    ({"nodeSelector": {"disk": "ssd"}}, ["plain"]),
    ({"nodeSelector": {"disk": "ssd", "gen": "10"}}, []),
    ({"nodeSelector": {"zone": ""}}, ["old"]),
    (labelled(expression("disk", "In", "ssd", "hdd")), ["plain", "old"]),
    (labelled(expression("disk", "NotIn", "ssd")), ["old", "bare", "odd"]),
    (labelled(expression("disk", "Exists")), ["plain", "old"]),
    (labelled(expression("disk", "DoesNotExist")), ["bare", "odd"]),
    (labelled(expression("gen", "Gt", "2")), ["old"]),
    (labelled(expression("gen", "Lt", "10")), ["plain"]),
    (labelled(expression("gen", "Gt", "1")), ["plain", "old"]),
    (labelled(expression("disk", "Exists"), expression("gen", "Gt", "5")), ["old"]),
    (affinity({"matchExpressions": [expression("disk", "In", "ssd")]}, {"matchFields": []}), ["plain"]),
    (
        affinity(
            {"matchExpressions": [expression("disk", "In", "ssd")]},
            {"matchExpressions": [expression("gen", "In", "two")]},
        ),
        ["plain", "odd"],
    ),
    ({"nodeSelector": {"disk": "hdd"}, **labelled(expression("gen", "Exists"))}, ["old"]),
    ({"nodeSelector": {"disk": "hdd"}, **labelled(expression("gen", "In", "2"))}, []),
    (named("In", "bare"), ["bare"]),
    (named("NotIn", "bare"), ["plain", "old", "odd"]),
    (named("In", "nobody"), []),
    (affinity({"matchFields": [expression("metadata.uid", "NotIn", "1")]}), EVERYONE),
    (
        affinity(
            {
                "matchExpressions": [expression("disk", "Exists")],
                "matchFields": [expression("metadata.name", "NotIn", "old")],
            }
        ),
        ["plain"],
    ),
]

MATCH_NOTHING = [
    affinity(),
    affinity({}),
    affinity({"matchExpressions": [], "matchFields": []}),
    labelled(expression("disk", "In")),
    labelled(expression("disk", "NotIn")),
    labelled(expression("disk", "Exists", "ssd")),
    labelled(expression("disk", "DoesNotExist", "ssd")),
    labelled(expression("gen", "Gt", "1", "2")),
    labelled(expression("gen", "Gt", "one")),
    labelled(expression("gen", "Gt", "-1")),
    labelled(expression("gen", "Lt", "99999999999999999999")),
    labelled(expression("disk", "Like", "ssd")),
    labelled(expression("di sk", "DoesNotExist")),
    labelled(expression("disk", "NotIn", "not a label value")),
    labelled(expression("disk", "NotIn", "x" * 64)),
    named("In", "bare", "old"),
    named("Exists"),
    affinity({"matchFields": [expression("metadata.uid", "In", "1")]}),
]


@pytest.mark.parametrize(("claim", "expected"), SELECTIONS)
def test_selector_and_affinity_choose_nodes(claim: dict[str, Any] | None, expected: list[str]) -> None:
    assert admitted(claim, NODES) == expected


@pytest.mark.parametrize("claim", MATCH_NOTHING)
def test_empty_and_invalid_terms_match_nothing(claim: dict[str, Any]) -> None:
    assert admitted(claim, NODES) == []


def test_an_invalid_term_leaves_the_other_terms_their_say() -> None:
    broken, sound = (
        {"matchExpressions": [expression("gen", "Gt", "x")]},
        {"matchExpressions": [expression("disk", "Exists")]},
    )
    assert admitted(affinity(broken, sound), NODES) == ["plain", "old"]


GPU = {"key": "gpu", "value": "a100", "effect": "NoSchedule"}
TAINTED = [
    node("free"),
    node("gpu", taints=[GPU]),
    node("drained", taints=[{"key": "drain", "effect": "NoExecute"}]),
    node("shy", taints=[{"key": "shy", "effect": "PreferNoSchedule"}]),
    node("both", taints=[GPU, {"key": "drain", "effect": "NoExecute"}]),
    node("closed", unschedulable=True),
]

TOLERATIONS = [
    # tolerations                                                               admitted besides free and shy
    ([], []),
    ([{"key": "gpu", "operator": "Exists"}], ["gpu"]),
    ([{"key": "gpu", "value": "a100"}], ["gpu"]),
    ([{"key": "gpu", "operator": "Equal", "value": "a100", "effect": "NoSchedule"}], ["gpu"]),
    ([{"key": "gpu", "operator": "Equal", "value": "h100"}], []),
    ([{"key": "gpu", "operator": "Exists", "effect": "NoExecute"}], []),
    ([{"key": "drain"}], ["drained"]),
    ([{"key": "drain", "operator": "Exists"}, {"key": "gpu", "operator": "Exists"}], ["gpu", "drained", "both"]),
    ([{"operator": "Exists"}], ["gpu", "drained", "both", "closed"]),
    ([{"operator": "Exists", "effect": "NoExecute"}], ["drained"]),
    ([{"value": "a100"}], ["gpu"]),
    ([{"key": "gpu", "operator": "Like", "value": "a100"}], []),
    ([{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}], ["closed"]),
    ([{"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"}], ["closed"]),
    ([{"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoExecute"}], []),
]


@pytest.mark.parametrize(("tolerations", "expected"), TOLERATIONS)
def test_taints_keep_pods_away_that_do_not_tolerate_them(tolerations: list[Any], expected: list[str]) -> None:
    found = admitted({"tolerations": tolerations}, TAINTED)
    assert [name for name in found if name not in ("free", "shy")] == expected
    assert {"free", "shy"} <= set(found)


def test_every_refused_node_has_one_reason_and_they_are_counted() -> None:
    node_index = NodeIndex(Node.of(each) for each in [*TAINTED, node("fast", labels={"disk": "ssd"})])
    match = match_claim(NodeClaim(node_selector={"disk": "ssd"}), node_index)
    assert [(reason.nodes, reason.reason) for reason in match.reasons()] == [
        (2, "didn't match the pod's node affinity/selector"),
        (2, "had untolerated taint {gpu: a100}"),
        (1, "had untolerated taint {drain: }"),
        (1, "were unschedulable"),
    ]
    assert match.count == 1
