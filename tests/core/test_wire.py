"""The envelope is read strictly and answered exactly."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interpreters.core.errors import RequestError, ScriptError
from interpreters.core.wire import Reply, decode_request, encode_failure, encode_reply

REQUEST: dict[str, Any] = {
    "uid": "u-1",
    "kind": {"group": "apps", "version": "v1", "kind": "Deployment"},
    "name": "web",
    "namespace": "shop",
    "operation": "ReviseReplica",
    "object": {"apiVersion": "apps/v1", "big": 9007199254740993},
    "replicas": 3,
}


def envelope(**changes: Any) -> bytes:
    request = {key: value for key, value in (REQUEST | changes).items() if value is not ...}
    return json.dumps(
        {"apiVersion": "config.karmada.io/v1alpha1", "kind": "ResourceInterpreterContext", "request": request}
    ).encode()


def test_a_request_is_read_with_the_object_left_as_it_came() -> None:
    request = decode_request(envelope())
    assert (request.uid, str(request.kind), request.operation.name) == ("u-1", "apps/v1 Deployment", "ReviseReplica")
    assert request.arguments() == (b'{"apiVersion": "apps/v1", "big": 9007199254740993}', b"3")


def test_absent_and_null_members_are_the_same() -> None:
    request = decode_request(envelope(operation="Retain", observedObject=None, namespace=None, replicas=None))
    assert request.arguments()[1] == b"null"
    assert request.namespace == ""


@pytest.mark.parametrize("replicas", [0, 1, 2**31 - 1])
def test_replicas_are_what_karmada_can_count(replicas: int) -> None:
    assert decode_request(envelope(replicas=replicas)).arguments()[1] == b"%d" % replicas


MISTAKES: list[tuple[bytes, str]] = [
    (b"", "the body is not JSON"),
    (b"{", "the body is not JSON"),
    (b"[]", "the body: expected an object, got a list"),
    (b'{"apiVersion": "\xff"}', "the body is not UTF-8 at byte 16"),
    (b'{"kind": "x"}', "apiVersion: expected a value, got nothing"),
    (b'{"apiVersion": "v1", "kind": "Pod", "request": null}', "expected apiVersion config.karmada.io/v1alpha1"),
    (
        b'{"apiVersion": "config.karmada.io/v1alpha1", "kind": "ResourceInterpreterContext"}',
        "request: expected an object",
    ),
    (envelope(uid=...), "request.uid: expected a value, got nothing"),
    (envelope(uid=""), "request.uid: expected a text that"),
    (envelope(uid=5), "request.uid: expected text, got a whole number"),
    (envelope(operation="Explode"), "request.operation: 'Explode' is unknown; known are InterpretReplica"),
    (envelope(object=[]), "request.object: expected an object, got a list"),
    (envelope(object=...), "request.object: expected a value, got nothing"),
    (envelope(replicas="3"), "request.replicas: expected a whole number, got text"),
    (envelope(replicas=1.5), "request.replicas: expected a whole number, got a number with a point"),
    (envelope(replicas=True), "request.replicas: expected a whole number, got true or false"),
    (envelope(replicas=-1), "request.replicas: expected 0 to 2147483647, got -1"),
    (envelope(replicas=4_000_000_000), "request.replicas: expected 0 to 2147483647, got 4000000000"),
    (envelope(replicas=10**400), "request.replicas: expected 0 to 2147483647, got a number of more than 20 digits"),
    (envelope(operation="GetReplicas", replicas=-1), "request.operation: 'GetReplicas' is unknown"),
    (envelope(kind={"group": []}), "request.kind.group: expected text, got a list"),
    (envelope(name={}), "request.name: expected text, got an object"),
    (b"[" * 100_000, "the body"),
]


@pytest.mark.parametrize(("body", "message"), MISTAKES, ids=range(len(MISTAKES)))
def test_a_mistake_in_the_envelope_is_named(body: bytes, message: str) -> None:
    with pytest.raises(RequestError) as caught:
        decode_request(body)
    assert message in str(caught.value)


def test_success_and_failure_repeat_the_uid() -> None:
    good = json.loads(encode_reply("u-1", Reply(healthy=False)))
    assert good["response"] == {"uid": "u-1", "successful": True, "healthy": False}
    bad = json.loads(encode_failure("u-1", ScriptError("no", script="s.lua", line=3, function="Retain")))
    assert bad["response"] == {
        "uid": "u-1",
        "successful": False,
        "status": {"code": 422, "message": "s.lua:3: in Retain: no"},
    }


@given(st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
def test_no_bytes_whatever_crash_the_decoder(body: bytes) -> None:
    with pytest.raises(RequestError):
        decode_request(body)
