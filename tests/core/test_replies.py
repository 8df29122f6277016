"""A script's return values become a checked reply, or an error that names the field."""

from __future__ import annotations

import base64
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interpreters.core.errors import InterpError, ReplyError
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import find_operation
from interpreters.core.replies import build_reply
from interpreters.core.reply_schemas import REPLY_SCHEMAS
from interpreters.core.wire import Reply, Request, response_fields

THING = {"apiVersion": "example.io/v1", "kind": "Thing", "spec": {"replicas": 1, "big": 2**53 + 1}}


def reply_to(function: str, *values: Any) -> Reply:
    request = Request(
        find_operation(function), GroupVersionKind("example.io", "v1", "Thing"), json.dumps(THING).encode()
    )
    return build_reply(request, tuple(json.dumps(value).encode() for value in values))


def fields(function: str, *values: Any) -> Any:
    return json.loads(msgspec.json.encode(response_fields(reply_to(function, *values))))


REQUEST = {"resourceRequest": {"cpu": "1"}}
GOOD: list[tuple[str, tuple[Any, ...], Any]] = [
    ("GetReplicas", (3,), {"replicas": 3}),
    ("GetReplicas", (3, None), {"replicas": 3}),
    ("GetReplicas", (2.9,), {"replicas": 2}),
    ("GetReplicas", (0, REQUEST), {"replicas": 0, "replicaRequirements": REQUEST}),
    ("GetReplicas", (1, {"resourceRequest": {"cpu": 1, "memory": "1024Mi"}}),
     {"replicas": 1, "replicaRequirements": {"resourceRequest": {"cpu": "1", "memory": "1Gi"}}}),
    ("GetReplicas", (1, {"namespace": None, "nodeClaim": {"tolerations": None}}),
     {"replicas": 1, "replicaRequirements": {"nodeClaim": {}}}),
    ("GetComponents", ([{"name": "a", "replicas": 0}],), {"components": [{"name": "a", "replicas": 0}]}),
    ("GetComponents", (None,), {"components": []}),
    ("GetComponents", ({},), {"components": []}),
    ("GetComponents", ([{"name": "a", "replicas": 1, "unknown": 5, "replicaRequirements": REQUEST}],),
     {"components": [{"name": "a", "replicas": 1, "replicaRequirements": REQUEST}]}),
    ("ReflectStatus", ({"a": []},), {"rawStatus": {"a": []}}),
    ("ReflectStatus", ([],), {"rawStatus": {}}),
    ("InterpretHealth", (False,), {"healthy": False}),
    ("GetDependencies", ([{"apiVersion": "v1", "kind": "ConfigMap", "name": "c"}],),
     {"dependencies": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "c"}]}),
    ("GetDependencies", ([{"apiVersion": "v1", "kind": "Secret", "labelSelector": {"matchLabels": {"a": "b"}}}],),
     {"dependencies": [{"apiVersion": "v1", "kind": "Secret", "labelSelector": {"matchLabels": {"a": "b"}}}]}),
    ("ReviseReplica", (THING,), {}),
]  # fmt: skip


@pytest.mark.parametrize(("function", "values", "want"), GOOD)
def test_a_good_reply_fills_the_fields_of_its_operation(function: str, values: tuple[Any, ...], want: Any) -> None:
    got = fields(function, *values)
    assert got == want
    import jsonschema

    jsonschema.validate(got, REPLY_SCHEMAS[find_operation(function).answer])


LONG = "x" * 33
BAD: list[tuple[str, tuple[Any, ...], str]] = [
    ("GetReplicas", (), "replicas: expected a number, got nothing"),
    ("GetReplicas", ("3",), "replicas: expected a number, got text '3'"),
    ("GetReplicas", (True,), "replicas: expected a number, got boolean True"),
    ("GetReplicas", (-1,), "replicas: expected 0 to 2147483647, got -1"),
    ("GetReplicas", (2**31,), "replicas: expected 0 to 2147483647, got 2147483648"),
    ("GetReplicas", (1, "x"), "replicaRequirements: expected an object, got 'x'"),
    ("GetReplicas", (1, {"resourceRequest": {"cpu": "one"}}),
     'replicaRequirements.resourceRequest.cpu: "one" is not a quantity'),
    ("GetReplicas", (1, {"resourceRequest": {"cpu": "-1"}}), "expected an amount not below 0, got -1"),
    ("GetComponents", (3,), "components: expected a list, got 3"),
    ("GetComponents", ([{"replicas": 1}],), "components[0].name: is missing"),
    ("GetComponents", ([{"name": "a"}],), "components[0].replicas: is missing"),
    ("GetComponents", ([{"name": "", "replicas": 1}],), "components[0].name: expected 1 to 32 characters, got 0"),
    ("GetComponents", ([{"name": LONG, "replicas": 1}],), "expected 1 to 32 characters, got 33"),
    ("GetComponents", ([{"name": "a", "replicas": 1}] * 2,), "components[1].name: duplicate name 'a'"),
    ("GetComponents", ([{"name": "a", "replicas": 1.5}],), "components[0].replicas: expected a whole number, got 1.5"),
    ("GetComponents", ([{"name": "a", "replicas": -1}],), "components[0].replicas: expected 0 to"),
    ("GetComponents", ([{"name": "a", "replicas": 1, "replicaRequirements": {"nodeClaim": {"nodeSelector": {"d": 1}}}}],),  # noqa: E501
     "components[0].replicaRequirements.nodeClaim.nodeSelector.d: expected text, got 1"),
    ("ReviseReplica", (), "expected the changed object, got nothing; did the function forget to return it?"),
    ("Retain", ([1],), "expected the changed object, got a list"),
    ("ReflectStatus", (), "status: expected an object, got nothing"),
    ("InterpretHealth", ("true",), "healthy: expected true or false, got text 'true'"),
    ("GetDependencies", ([{"kind": "Secret", "name": "s"}],), "dependencies[0].apiVersion: is missing"),
    ("GetDependencies", ([{"apiVersion": "v1", "kind": "Secret"}],), "expected a name or a labelSelector, got neither"),
    ("GetDependencies", ([{"apiVersion": "v1", "kind": "", "name": "x"}],), "dependencies[0].kind: expected a text"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "values", "message"), BAD)
def test_a_bad_reply_is_the_scripts_error_and_names_the_field(
    function: str, values: tuple[Any, ...], message: str
) -> None:
    with pytest.raises(ReplyError) as caught:
        reply_to(function, *values)
    assert message in str(caught.value)


def test_a_changed_object_travels_as_a_patch_that_leaves_big_numbers_alone() -> None:
    changed = json.loads(json.dumps(THING))
    changed["spec"]["replicas"] = 5
    response = fields("ReviseReplica", changed)
    assert response["patchType"] == "JSONPatch"
    assert json.loads(base64.b64decode(response["patch"])) == [{"op": "replace", "path": "/spec/replicas", "value": 5}]


def test_no_components_at_all_is_worth_a_warning() -> None:
    assert "no workload" in reply_to("GetComponents", []).warnings[0]


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "replicas", "replicaRequirements", "resourceRequest", "cpu"]), inner)
    ),
    max_leaves=12,
)


@given(st.sampled_from(["GetReplicas", "GetComponents", "ReflectStatus", "GetDependencies", "Retain"]), anything)
def test_whatever_a_script_returns_is_a_valid_reply_or_an_error_in_words(function: str, value: Any) -> None:
    import jsonschema

    try:
        got = fields(function, value)
    except InterpError as error:
        assert str(error)
        return
    jsonschema.validate(got, REPLY_SCHEMAS[find_operation(function).answer])
