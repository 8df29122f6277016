"""What a reply does not hold of a script's values is told in words: path, what was there, what was probably meant."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interpreters.core.errors import ReplyError
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.lost_values import lost_values
from interpreters.core.operations import Answer, find_operation
from interpreters.core.replies import build_reply
from interpreters.core.wire import Request


def lost(answer: Answer, *values: Any) -> list[str]:
    return lost_values(answer, tuple(json.dumps(value).encode() for value in values))


def component(**fields: Any) -> list[dict[str, Any]]:
    return [{"name": "a", "replicas": 1, **fields}]


LOST: list[tuple[Answer, tuple[Any, ...], str, str]] = [
    (Answer.REPLICAS, (1.5,), "replicas: Karmada cuts 1.5 down to 1", "return a whole number"),
    (Answer.REPLICAS, (1, {"resourceRequests": {}}),
     "replicaRequirements.resourceRequests: there is no such field, so what it holds (an object) is lost",
     "did you mean resourceRequest?"),
    (Answer.REPLICAS, (1, {"nodeclaim": {}}), "replicaRequirements.nodeclaim: ", "did you mean nodeClaim?"),
    (Answer.REPLICAS, (1, {"nodeSelector": {}}), "replicaRequirements.", "did you mean nodeClaim.nodeSelector?"),
    (Answer.REPLICAS, (1, {"cpu": "1"}), "replicaRequirements.cpu: there is no such field, so what it holds ('1')",
     "known are nodeClaim, resourceRequest, priorityClassName, namespace"),
    (Answer.REPLICAS, (1, {"nodeClaim": {"tolerations": [{}, {"efect": "x"}]}}),
     "replicaRequirements.nodeClaim.tolerations[1].efect: ", "did you mean effect?"),
    (Answer.COMPONENTS, (component(replicaRequirement={}),),
     "components[0].replicaRequirement: ", "did you mean replicaRequirements?"),
    (Answer.COMPONENTS, (component(replica_requirements=[]),),
     "components[0].replica_requirements: there is no such field, so what it holds (a list)",
     "did you mean replicaRequirements?"),
    (Answer.COMPONENTS, (component(resourceRequest={}),), "components[0].resourceRequest: ",
     "did you mean replicaRequirements.resourceRequest?"),
    (Answer.COMPONENTS, (component(replicaRequirements={"namespace": "n"}),),
     "components[0].replicaRequirements.namespace: ", "known are nodeClaim, resourceRequest, priorityClassName"),
    (Answer.COMPONENTS, (component(**{"a\nb": 5}),), "components[0]['a\\nb']: there is no such field",
     "known are name, replicas, replicaRequirements"),
    (Answer.DEPENDENCIES, ([{"apiVersion": "v1", "kind": "Pod", "name": "p", "matchLabels": {}}],),
     "dependencies[0].matchLabels: ", "did you mean labelSelector.matchLabels?"),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "values", "what", "hint"), LOST, ids=[row[2] for row in LOST])
def test_what_is_lost_is_named_with_what_was_meant(
    answer: Answer, values: tuple[Any, ...], what: str, hint: str
) -> None:
    (sentence,) = lost(answer, *values)
    assert sentence.startswith(what)
    assert sentence.endswith(hint)


KEPT: list[tuple[Answer, tuple[Any, ...]]] = [
    (Answer.REPLICAS, (2.0, None)),
    (Answer.REPLICAS, ()),
    (Answer.REPLICAS, (1, {"nodeClaim": {"nodeSelector": {"any": "label"}}, "resourceRequest": {"any/thing": 1}})),
    (Answer.COMPONENTS, (None,)),
    (Answer.COMPONENTS, (component(nothing=None),)),
    (Answer.STATUS, ({"whatever": 1.5},)),
    (Answer.OBJECT, ({"whatever": 1.5},)),
    (Answer.HEALTH, (True,)),
]


@pytest.mark.parametrize(("answer", "values"), KEPT)
def test_what_is_in_the_reply_or_holds_nothing_is_not_lost(answer: Answer, values: tuple[Any, ...]) -> None:
    assert lost(answer, *values) == []


names = st.sampled_from(["name", "replicas", "replicaRequirements", "resourceRequest", "nodeClaim", "tolerations", "x"])
anything = st.recursive(
    st.none() | st.booleans() | st.integers(0, 9) | st.floats(0, 9) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4),
    max_leaves=12,
)
components = st.lists(st.fixed_dictionaries({"name": st.just("a"), "replicas": st.just(1), "x": anything}), max_size=1)

requirements = st.dictionaries(names, anything, max_size=4)
returned = (
    st.tuples(st.just("GetComponents"), components | anything)
    | st.tuples(st.just("GetReplicas"), st.floats(0, 9), requirements)
)  # fmt: skip


@given(returned)
def test_any_value_can_be_asked_about_and_a_reply_itself_loses_nothing(returned: tuple[Any, ...]) -> None:
    function, *values = returned
    operation = find_operation(function)
    raw = tuple(json.dumps(value).encode() for value in values)
    assert all(lost_values(operation.answer, raw))
    try:
        reply = build_reply(Request(operation, GroupVersionKind("e.io", "v1", "Thing"), b"{}"), raw)
    except ReplyError:
        return
    again = (reply.replicas, reply.replica_requirements) if reply.components is None else (reply.components,)
    assert lost_values(operation.answer, tuple(map(msgspec.json.encode, again))) == []
