"""Ownership records are compiled once and nobody notices: not who reads them, not who changes them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interpreters.core.engine import Limits
from interpreters.core.errors import ScriptError
from interpreters.starlark.engine import StarlarkEngine
from interpreters.starlark.ownership import KEPT_RECORDS
from tests.interpreters.starlark.calling import script


def thing(*records: Any) -> dict[str, Any]:
    return {"metadata": {"name": "t", "managedFields": [{"manager": "m", "fieldsV1": record} for record in records]}}


def record(n: int = 0) -> dict[str, Any]:
    return {"f:metadata": {"f:annotations": {".": {}, f"f:example.io/key-{n}": {}}}, "f:spec": {'k:{"name":"a"}': {}}}


# what a script does with the object                                     what it returns, as it would without records
USES = [
    ("return obj",                                                        thing(record())),
    ("return obj['metadata']['managedFields'][0]['fieldsV1']",            record()),
    ("return sorted(obj['metadata']['managedFields'][0]['fieldsV1'])",    ["f:metadata", "f:spec"]),
    ("return str(obj)[:3]",                                               '{"m'),
    ("obj['metadata']['managedFields'] = 1\n    return obj['metadata']",  {"name": "t", "managedFields": 1}),
    ("f = obj['metadata']['managedFields'][0]['fieldsV1']\n    f.clear()\n    f['x'] = 1\n    return f", {"x": 1}),
    ("print('once')\n    obj['metadata']['managedFields'][0]['fieldsV1'].pop('f:spec')\n    return 7",  7),
]  # fmt: skip


@pytest.mark.parametrize(("body", "answer"), USES)
def test_a_script_gets_the_records_whatever_it_does_with_them(body: str, answer: Any) -> None:
    engine, text = StarlarkEngine(), f"def F(obj):\n    {body}\n"
    argument = json.dumps(thing(record())).encode()
    for _ in range(5):
        outcome = engine.call(script(text), "F", [argument], Limits(), reads_only=True)
        assert [json.loads(value) for value in outcome.values] == [answer]
        assert outcome.printed == ("once\n" if "print" in body else "")


def test_more_records_than_are_kept_and_records_that_alternate() -> None:
    engine, text = StarlarkEngine(), "def F(obj):\n    return obj\n"
    for n in [*range(3 * KEPT_RECORDS), *range(3 * KEPT_RECORDS), 1, 2, 1, 2, 1]:
        expected = thing(record(n), record(n + 1), record(n))
        (value,) = engine.call(script(text), "F", [json.dumps(expected).encode()], Limits(), reads_only=True).values
        assert json.loads(value) == expected


# arguments that look like an object with records, and are not quite
ODD = [
    b"null", b"7", b"[]", b'"x"', b"{}", b'{"metadata": null}', b'{"metadata": {"managedFields": 3}}',
    b'{"metadata": {"managedFields": [null, 1]}}',
    b'{"metadata": {"managedFields": [{"fieldsV1": "' + b"x" * 99 + b'"}]}}',
    json.dumps(thing({"f:" + "\U0001f600" * 20: {"f:/" + "a" * 70: None}})).encode(),
    json.dumps(thing({"f:" + "a" * 99: [True, False, None, 2.0, 1 << 70]})).replace("/", "\\/").encode(),
]  # fmt: skip


@pytest.mark.parametrize("argument", ODD)
def test_odd_objects_pass_through_as_they_are(argument: bytes) -> None:
    engine, text = StarlarkEngine(), "def F(obj):\n    return obj\n"
    for _ in range(4):
        (value,) = engine.call(script(text), "F", [argument], Limits(), reads_only=True).values
        assert json.loads(value) == json.loads(argument)


def test_a_record_with_a_key_twice_is_refused_as_the_same_object_without_records_is() -> None:
    argument = b'{"metadata": {"managedFields": [{"fieldsV1": {"' + b"k" * 70 + b'": 1, "' + b"k" * 70 + b'": 2}}]}}'
    engine, text = StarlarkEngine(), "def F(obj):\n    return obj\n"
    for reads_only in (False, True, True, True):
        with pytest.raises(ScriptError, match="duplicate key"):
            engine.call(script(text), "F", [argument], Limits(), reads_only=reads_only)


def test_a_script_may_change_globals_of_its_own_beside_frozen_records() -> None:
    engine, text = StarlarkEngine(), "L = []\ndef F(obj):\n    L.append(1)\n    return L\n"
    for _ in range(3):
        answer = engine.call(script(text), "F", [json.dumps(thing(record())).encode()], Limits(), reads_only=True)
        assert answer.values == (b"[1]",)
