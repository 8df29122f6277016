"""Values that a script does not touch keep their exact JSON value, where they are and where they are moved to."""

# ruff: noqa: E501 - tables of cases read better with one case a line

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interpreters.core.errors import ReplyError
from tests.interpreters.lua.scripts import failure, outcome, raw, result

IDENTITY = "function f(o) return o end"
COPY = """
local function copy(value)
  if type(value) ~= "table" then return value end
  local new = {}
  for k, v in pairs(value) do new[k] = copy(v) end
  return new
end
function f(o) return copy(o) end
"""

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=12)
    | st.text('abc"\\/\n\t\x00é€😀{}[]:,', max_size=12)
)
documents = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=25,
)


def exact(text: str | bytes) -> Any:
    return json.loads(text, parse_float=Decimal, parse_int=Decimal)


@settings(max_examples=400, deadline=None)
@given(documents, st.sampled_from([None, 1]), st.booleans())
def test_documents_pass_through_unchanged(document: Any, indent: int | None, ascii_only: bool) -> None:
    text = json.dumps({"x": document}, indent=indent, ensure_ascii=ascii_only)
    got = raw(IDENTITY, text.encode())
    assert exact(got) == exact(text)
    assert kinds(json.loads(got)) == kinds(json.loads(text))


def kinds(value: Any) -> Any:
    """True is not 1 and 2.0 is not 2."""
    if isinstance(value, dict):
        return {key: kinds(item) for key, item in value.items()}
    if isinstance(value, list):
        return [kinds(item) for item in value]
    return type(value)


def empties(value: Any, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], set[str]]:
    """Kinds of the empty containers by path, indices ignored. Nulls cannot be seen by a script."""
    found: dict[tuple[str, ...], set[str]] = {}
    if isinstance(value, dict | list):
        if not value:
            found[path] = {type(value).__name__}
        children = value.items() if isinstance(value, dict) else (("[]", item) for item in value)
        for key, child in children:
            for at, names in empties(child, (*path, key)).items():
                found.setdefault(at, set()).update(names)
    return found


def copied(value: Any, known: dict[tuple[str, ...], set[str]], path: tuple[str, ...] = ()) -> Any:
    """What a deep copy in Lua may keep: empty tables have the kind of their path; those of no known kind are dropped."""
    if isinstance(value, list):
        return [copied(item, known, (*path, "[]")) for item in value] or ({} if "dict" in known[path] else [])
    if isinstance(value, dict):
        return {key: copied(item, known, (*path, key)) for key, item in value.items()}
    return value


plain = st.recursive(
    st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, min_size=0, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3),
    max_leaves=20,
)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from("abcd"), plain, min_size=1, max_size=3))
def test_a_deep_copy_keeps_all_values_and_the_kinds_of_empty_tables_by_path(document: dict[str, Any]) -> None:
    assert result(COPY, document) == copied(document, empties(document))


BIG = 2**53 + 1
MOVES: list[tuple[str, Any, str]] = [
    ("return o.spec", {"spec": {"big": BIG}}, '{"big":9007199254740993}'),
    ("return {x = o.big}", {"big": BIG}, '{"x":9007199254740993}'),
    ("return {x = {o.big, o.big}}", {"big": -BIG}, '{"x":[-9007199254740993,-9007199254740993]}'),
    ("return o.big", {"big": 2**63}, "9223372036854775808"),
    ("return {o.a, o.b}", {"a": BIG, "b": BIG - 1}, "[9007199254740992,9007199254740992]"),
    ("return o", {"a": BIG, "b": BIG - 1}, '{"a":9007199254740993,"b":9007199254740992}'),
    ("return {o.x}", b'{"x":0.12345678901234567890}', "[0.12345678901234567890]"),
    ("return o", b'{"x":2.0,"y":1e3,"z":-0,"w":1.50}', '{"w":1.50,"x":2.0,"y":1e3,"z":-0}'),
    ("return {o.x, o.x + 1}", b'{"x":2.0}', "[2,3]"),
    ("o.x = o.x + 1 return o", b'{"x":2.0}', '{"x":3}'),
    ("return o", b'{"huge":1e400}', '{"huge":1e400}'),
    ("return o", b'[1e-7,1E+2,123456789012345678901234567890]', "[1e-7,1E+2,123456789012345678901234567890]"),
    ("return o", {"a": None, "b": [None, 1, None], "c": {"d": None}}, '{"a":null,"b":[null,1,null],"c":{"d":null}}'),
    ("o.a = 1 return o", {"a": None, "b": None}, '{"a":1,"b":null}'),
    ("return o", [None], "[null]"),
    ("return {s = o.status}", {"status": {"conditions": [], "x": {}}}, '{"s":{"conditions":[],"x":{}}}'),
    ("return {m = o.list, l = o.map}", {"list": [], "map": {}}, '{"l":{},"m":[]}'),
    ("return {list = {}, map = {}, other = {}}", {"list": [], "map": {}}, '{"list":[],"map":{}}'),
    ("return {a = {{x = {}}, {x = {}}}}", {"a": [{"x": []}]}, '{"a":[{"x":[]},{"x":[]}]}'),
    ("return {a = {{x = {}}}}", {"a": [{"x": []}, {"x": {}}]}, '{"a":[{"x":{}}]}'),
    ("return {a = {{}, {}}}", {}, '{"a":[{},{}]}'),
    ("return {a = {{}}}", {"a": [[]]}, '{"a":[[]]}'),
    ("o.l[1] = nil return o", {"l": ["x"], "k": 1}, '{"k":1}'),
    ("o.l[1] = 'x' o.l[1] = nil return o", {"l": [], "k": 1}, '{"k":1,"l":[]}'),
    ("return {}", {"a": []}, "{}"),
    ("local t = {a = 1} return {t, t}", {}, '[{"a":1},{"a":1}]'),
    ("return nil", {}, "null"),
    ("return 'x'", {}, '"x"'),
    ("return true", {}, "true"),
    ("return 1e15", {}, "1000000000000000"),
    ("return {2^53, 2^63, 1e20, -1e20}", {}, "[9007199254740992,9223372036854775808,100000000000000000000,-100000000000000000000]"),
    ("return {0.1, 1/3, 1e-7, 2.5e30}", {}, "[0.1,0.3333333333333333,1e-07,2.5e+30]"),
    ("return -0", {}, "0"),
    ("return {['1'] = 'a'}", {}, '{"1":"a"}'),
    ("return o.s", {"s": "a\"\\\b\f\n\r\t\x01/é😀"}, '"a\\"\\\\\\b\\f\\n\\r\\t\\u0001/é😀"'),
    ("return #o.s", b'{"s":"\\ud83d\\ude00\\u00e9\\/"}', "7"),
    ("return o", b' { "a" : [ 1 , { } , [ ] ] , "b" : "x" } ', '{"a":[1,{},[]],"b":"x"}'),
    ("return o", b'{"a":1,"a":2}', '{"a":2}'),
]  # fmt: skip


@pytest.mark.parametrize(("body", "argument", "text"), MOVES)
def test_values_keep_what_they_are(body: str, argument: Any, text: str) -> None:
    assert raw(f"function f(o) {body} end", argument) == text


def test_paths_of_all_arguments_tell_the_kind_of_a_new_empty_table() -> None:
    text = "function f(desired, observed) return {a = {}, b = {}, c = {}} end"
    assert raw(text, {"a": []}, {"b": {}}) == '{"a":[],"b":{}}'


def test_every_returned_value_is_given() -> None:
    assert outcome("function f() return 1, nil, {a = 1} end").values == (b"1", b"null", b'{"a":1}')
    assert outcome("function f() end").values == (b"null",)


BAD = [
    ("{x = {1, nil, 3}}", "x", "a list with a hole: element 2 of 3 is nil"),
    ("{x = {1, 2, a = 3}}", "x", 'a table with both list elements and fields (such as "a")'),
    ("{x = {[0] = 1}}", "x", "a key must be text or a list index from 1 on, got 0"),
    ("{x = {[1.5] = 1}}", "x", "a key must be text or a list index from 1 on, got 1.5"),
    ("{x = {[true] = 1}}", "x", "a key must be text or a list index from 1 on, got true"),
    ("{x = {[{}] = 1}}", "x", "a key must be text or a list index from 1 on, got a table"),
    ("{x = {y = {print}}}", "x.y[0]", "a function cannot be part of a reply"),
    ("{x = {0/0}}", "x[0]", "a number must be finite, got NaN"),
    ("{x = 1/0}", "x", "a number must be finite, got +Inf"),
    ("{['a b'] = {c = '\\255'}}", '["a b"].c', 'text that is not valid UTF-8: "?"'),
    ("{x = 'ab\\195'}", "x", 'text that is not valid UTF-8: "ab?"'),
    ("{['\\255'] = 1}", '["?"]', 'text that is not valid UTF-8: "?"'),
    ("(function() local t = {} t.a = {b = t} return t end)()", "a.b", "a table that contains itself (it is the one at the top)"),
    ("(function() local t = {} t.me = t return {x = t} end)()", "x.me", "a table that contains itself (it is the one at x)"),
    ("print", "", "a function cannot be part of a reply"),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "path", "problem"), BAD)
def test_what_json_cannot_hold_is_an_error_with_its_path(expression: str, path: str, problem: str) -> None:
    error = failure(f"function f() return {expression} end")
    assert isinstance(error, ReplyError)
    assert (error.path, error.problem, error.function) == (path, problem, "f")


WAITING = {
    "metadata": {
        "name": "n",
        "managedFields": [{"manager": "m", "fieldsV1": {"f:spec": {}}}],
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": '{"a":"\\n{["}\n', "other": "x"},
    },
    "spec": {"x": 1},
}
APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
ASKED: list[tuple[str, Any]] = [
    ("return #o.metadata.managedFields", 1),
    ("return o.metadata == o.metadata and o.metadata.name == rawget(o, 'metadata').name", True),
    ("o.metadata = nil return o.metadata == nil and next(o) ~= 'metadata'", True),
    ("return o.metadata.managedFields[1].manager", "m"),
    ("return o.metadata.managedFields == o.metadata.managedFields", True),
    (f"return o.metadata.annotations['{APPLIED}']", WAITING["metadata"]["annotations"][APPLIED]),  # type: ignore[index]
    ("local n = {} for k in pairs(o.metadata) do n[#n + 1] = k end return n", ["annotations", "managedFields", "name"]),
    ("local n = {} for k, v in pairs(o.metadata.annotations) do n[#n + 1] = #v end return n", [13, 1]),
    ("return next({a = o.metadata}) and next(o.metadata.annotations)", APPLIED),
    ("return rawget(o.metadata, 'managedFields')[1].manager", "m"),
    ("o.metadata.managedFields = nil return o.metadata.managedFields == nil", True),
    ("o.metadata.managedFields = nil local n = 0 for _ in pairs(o.metadata) do n = n + 1 end return n", 2),
    ("o.metadata.managedFields = nil return o.metadata", {k: v for k, v in WAITING["metadata"].items() if k[0] != "m"}),
    ("rawset(o.metadata, 'managedFields', 5) return o.metadata.managedFields", 5),
    ("o.metadata.managedFields = 'x' return o.metadata.managedFields", "x"),
    ("o.metadata.managedFields[1].manager = 'z' return o.metadata.managedFields[1].manager", "z"),
    ("return o.metadata.nothing == nil", True),
    ("o.metadata.new = 1 return o.metadata.new", 1),
    ("return o", WAITING),
    ("return {m = o.metadata}", {"m": WAITING["metadata"]}),
    ("return o.metadata.managedFields", WAITING["metadata"]["managedFields"]),
    ("return {a = o.metadata.managedFields[1].fieldsV1['f:spec']}", {"a": {}}),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), ASKED)
def test_fields_that_wait_are_there_for_whoever_asks(body: str, expected: Any) -> None:
    assert result(f"function f(o) {body} end", WAITING) == expected


ODD_METADATA = [
    b'{"metadata":5}',
    b'{"metadata":{"annotations":null,"managedFields":null}}',
    b'{"metadata":{"annotations":"x","managedFields":{"a":1}}}',
    b'{"metadata":{"managedFields":[1],"managedFields":[1,2],"name":"n"}}',
    b'{"metadata":{"managedFields":[1,2],"managedFields":"x","name":"n"}}',
    b'{"metadata":{"managedFields":[1]},"metadata":{"name":"n"}}',
    b'{"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":5}}}',
    b'{"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":""}}}',
    b'[{"metadata":{"managedFields":[1]}}]',
]


@pytest.mark.parametrize("text", ODD_METADATA)
def test_unusual_metadata_passes_through(text: bytes) -> None:
    assert result(IDENTITY, text) == json.loads(text)


@pytest.mark.parametrize(
    "text", [b"", b"{", b'{"a":}', b"[1,]", b"nul", b'"x', b"{} {}", b'{"a":1}x', b"01", b"-", b'"\\ud83d"']
)
def test_an_argument_that_is_not_json_is_an_error(text: bytes) -> None:
    assert failure(IDENTITY, text).message.startswith("an argument is not JSON: ")
