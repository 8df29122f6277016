"""The rules by which Karmada judges a reply, as a table of replies that break them."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from interp.verbs.doctor.acceptance import problems_of
from tests.webhook.server import ENVELOPE, request

PATCH = base64.b64encode(b'[{"op":"add","path":"/spec/x","value":1}]').decode()
NOT_FITTING = base64.b64encode(b'[{"op":"remove","path":"/nowhere/x"}]').decode()

REPLIES = [  # operation, response beside uid and successful, part of the problem ("" for none)
    ("InterpretReplica", {"replicas": 0}, ""),
    ("InterpretReplica", {}, "response.replicas"),
    ("InterpretReplica", {"replicas": True}, "response.replicas"),
    ("InterpretReplica", {"replicas": -1}, "negative"),
    ("InterpretComponent", {"components": [{"name": "a"}]}, ""),
    ("InterpretComponent", {"components": [{"name": ""}]}, "1 to 32"),
    ("InterpretComponent", {"components": [{"name": "a"}, {"name": "a"}]}, "duplicate name"),
    ("InterpretComponent", {"components": [{"name": "a", "replicas": 2**31}]}, "replicas"),
    ("InterpretComponent", {}, "components"),
    ("ReviseReplica", {}, ""),
    ("ReviseReplica", {"patch": PATCH, "patchType": "JSONPatch"}, ""),
    ("ReviseReplica", {"patch": PATCH}, "both or neither"),
    ("ReviseReplica", {"patch": "", "patchType": "JSONPatch"}, "both or neither"),
    ("ReviseReplica", {"patch": PATCH, "patchType": "MergePatch"}, "JSONPatch"),
    ("Retain", {"patch": "%%%", "patchType": "JSONPatch"}, "base64"),
    ("AggregateStatus", {"patch": NOT_FITTING, "patchType": "JSONPatch"}, "does not apply"),
    ("InterpretStatus", {"rawStatus": {}}, ""),
    ("InterpretStatus", {}, "rawStatus"),
    ("InterpretHealth", {"healthy": False}, ""),
    ("InterpretHealth", {}, "healthy"),
    ("InterpretDependency", {}, ""),
    ("InterpretDependency", {"dependencies": [{"apiVersion": "v1", "kind": "Secret", "name": "s"}]}, ""),
    ("InterpretDependency", {"dependencies": [{"apiVersion": "v1", "kind": "Secret"}]}, "name or a labelSelector"),
    ("InterpretDependency", {"dependencies": [{"kind": "Secret", "labelSelector": {}}]}, "apiVersion"),
]


def judged(operation: str, response: Any, status: int = 200, **envelope: Any) -> list[str]:
    body = json.dumps({**ENVELOPE, "response": response, **envelope}).encode()
    return problems_of(request("lua", operation), status, body)


@pytest.mark.parametrize(("operation", "fields", "problem"), REPLIES)
def test_each_operation_has_its_own_rule(operation: str, fields: dict[str, Any], problem: str) -> None:
    found = judged(operation, {"uid": "u-1", "successful": True, **fields})
    assert (problem in found[0]) if problem else found == []


ENVELOPES = [  # response, HTTP status, further envelope fields, part of the problem
    ({"uid": "other", "successful": True, "healthy": True}, 200, {}, "response.uid"),
    ({"uid": "u-1", "successful": False}, 200, {}, "response.status"),
    ({"uid": "u-1", "successful": False, "status": {"code": 1, "message": "no"}}, 200, {}, "status 1: no"),
    (None, 200, {}, "response: is missing"),
    ({"uid": "u-1", "successful": True, "healthy": True}, 500, {}, "HTTP status 500"),
    ({"uid": "u-1", "successful": True, "healthy": True}, 200, {"kind": "Other"}, "kind: expected"),
]


@pytest.mark.parametrize(("response", "status", "envelope", "problem"), ENVELOPES)
def test_the_envelope_has_rules_too(response: Any, status: int, envelope: dict[str, Any], problem: str) -> None:
    assert problem in judged("InterpretHealth", response, status, **envelope)[0]


@pytest.mark.parametrize("body", [b"", b"[]", b"\xff", b"<html>"])
def test_a_body_that_is_no_envelope_is_a_problem_not_a_crash(body: bytes) -> None:
    assert problems_of(request("lua", "InterpretHealth"), 200, body)
