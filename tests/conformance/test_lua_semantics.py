"""Scripts do here what they do in Karmada, except where we are better on purpose (the vectors say where)."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from interpreters.core.engine import Limits, Script
from interpreters.core.errors import ScriptError
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import BY_NAME
from interpreters.core.patch import apply
from interpreters.core.replies import build_reply
from interpreters.core.wire import Request, response_fields
from interpreters.lua.engine import LuaEngine
from tests.conformance.vectors import cases

ENGINE = LuaEngine()
LIMITS = Limits(seconds=0.2)


def answer(case: dict[str, Any]) -> dict[str, Any]:
    """What our reply says, in the words of the vectors: response fields, or the object after our patch."""
    operation = BY_NAME[case["operation"]]
    request = Request(
        operation=operation,
        kind=GroupVersionKind.of(case["object"]),
        object=json.dumps(case["object"]).encode(),
        replicas=case.get("replicas", 0),
        observed_object=json.dumps(case.get("observedObject")).encode(),
        aggregated_status=json.dumps(case.get("aggregatedStatus")).encode(),
    )
    outcome = ENGINE.call(
        Script(case["name"], "lua", case["script"]), operation.function, request.arguments(), LIMITS,
        reads_only=not operation.changes_object,
    )  # fmt: skip
    reply = build_reply(request, outcome.values)
    if reply.patch is not None:
        return {"object": apply(case["object"], reply.patch)}
    fields: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(response_fields(reply)))
    return fields


LISTS = ("components", "dependencies")  # of a reply; a list that is null is an empty one, in Go as here


def comparable_answer(fields: dict[str, Any]) -> Any:
    return comparable({key: value or [] if key in LISTS else value for key, value in fields.items()})


def comparable(value: Any) -> Any:
    """Absent and null are one."""
    if isinstance(value, dict):
        return {key: comparable(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [comparable(item) for item in value]
    return value


@pytest.mark.parametrize("case", cases("lua-semantics"))
def test_scripts_answer_as_in_karmada_or_better(case: dict[str, Any]) -> None:
    wanted = [case[key] for key in ("ours", "oursMayBe") if key in case]
    if "ours" not in case and "want" in case:
        wanted.append(case["want"])
    try:
        got = answer(case)
    except ScriptError as error:
        assert "error" in case and "ours" not in case, f"{case['name']}: {error}"
        assert case["name"] in str(error) or not error.script
        return
    assert comparable_answer(got) in [comparable_answer(value) for value in wanted], case["name"]
