"""YAML and JSON are read as Kubernetes reads them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interpreters.core.documents import dump_documents, load_documents, load_values
from interpreters.core.errors import DocumentError

SCALARS: list[tuple[str, Any]] = [
    ("22:22", "22:22"),
    ("2024-01-01", "2024-01-01"),
    ("2024-01-01T10:00:00Z", "2024-01-01T10:00:00Z"),
    ("1e3", 1000),
    ("1.5e3", 1500),
    ("1.5e-3", 0.0015),
    ("2.0", 2.0),
    (".5", 0.5),
    ("010", 8),
    ("0o10", 8),
    ("0x10", 16),
    ("-0b11", -3),
    ("1_000", 1000),
    ("9007199254740993", 9007199254740993),
    ("yes", True),
    ("y", True),
    ("off", False),
    ("null", None),
    ("~", None),
    ("", None),
    ('"1e3"', "1e3"),
    ("<<", "<<"),
    ("1.2.3", "1.2.3"),
    ("08", 8),
    ("0X1f", 31),
    ("0O17", 15),
    ("1e1_0", 10_000_000_000),
    ("0x_", "0x_"),
    ("1e400", "1e400"),
    ("!!binary aGk=", "hi"),
    ("!!timestamp 2024-01-01", "2024-01-01"),
    ("!!set {x, y z}", {"x": None, "y z": None}),
    ("!!omap [x: 1]", [{"x": 1}]),
    ("!Ref 12", "12"),
    ("!!python/object:os.system x", "x"),
]


@pytest.mark.parametrize(("text", "value"), SCALARS)
def test_a_plain_scalar_has_the_type_kubernetes_gives_it(text: str, value: Any) -> None:
    (document,) = load_documents(f"a: {text}")
    assert document["a"] == value
    assert type(document["a"]) is type(value)


def test_keys_are_text_spelled_as_kubernetes_spells_their_value() -> None:
    text = "1: a\ntrue: b\n1.5: c\n1.20: d\n2.0: e\n010: f\n0x10: g\n1e3: h\n22:22: i\n'07': j"
    keys = ["1", "true", "1.5", "1.2", "2", "8", "16", "1000", "22:22", "07"]
    assert load_documents(text) == [dict(zip(keys, "abcdefghij", strict=True))]


def test_json_documents_may_follow_one_another() -> None:
    assert load_documents('{"a": 1}\n{"b": 9007199254740993} [{"c": {}}]\n') == [
        {"a": 1},
        {"b": 9007199254740993},
        {"c": {}},
    ]


@pytest.mark.parametrize("text", ["%YAML 1.1\n---\na: 1", "%TAG ! tag:x,2000:\n---\na: !!int 1", "a: 1 # %YAML 1.2"])
def test_directives_that_kubernetes_reads_are_read(text: str) -> None:
    assert load_documents(text) == [{"a": 1}]


@pytest.mark.parametrize(
    "text", [r'{"a": "\"", "b\"": "\u0022\\"}', r'{"a\\": "\\\"", "a": 1}', '{"a": {"a": ["a", "a"]}}']
)
def test_quotes_in_json_texts_are_not_taken_for_keys(text: str) -> None:
    assert load_documents(text) == [json.loads(text)]


def test_crlf_and_a_byte_order_mark_do_not_matter() -> None:
    assert load_documents(b"\xef\xbb\xbfa: b\r\nc: |\r\n  d\r\n") == [{"a": "b", "c": "d\n"}]


def test_documents_and_lists_are_taken_apart() -> None:
    text = "---\n---\nkind: A\n---\nkind: List\nitems:\n- kind: B\n- kind: CList\n  apiVersion: v1\n  items: [{x: 1}]\n"
    assert load_documents(text) == [{"kind": "A"}, {"kind": "B"}, {"apiVersion": "v1", "kind": "C", "x": 1}]


def test_merge_keys_work_and_may_be_overridden() -> None:
    assert load_documents("a: &a {x: 1, z: 2}\nb:\n  <<: *a\n  z: 3")[0]["b"] == {"x": 1, "z": 3}


DOUBLING = "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12))

MISTAKES = [
    ("a: 1\na: 2", 'f.yaml:2:1: duplicate key "a"'),
    ('{"a": 1,\n "a": 1}', 'f.yaml:2:2: duplicate key "a"'),
    ('{"a": 1, "\\u0061": 2}', 'f.yaml:1:10: duplicate key "a"'),
    ('[{"x": "\\\\", "b": {"a": "\\"", "a": [{}]}}]', 'f.yaml:1:31: duplicate key "a"'),
    ('{"x": 1}\n{"a": 1, "a": 2}', 'f.yaml: document 2: duplicate key "a"'),
    ("a: !!int", "f.yaml:1:4: tagged !!int and no whole number"),
    ("a: !!int 08x", "f.yaml:1:4: tagged !!int and no whole number"),
    ("a: !!float x", "f.yaml:1:4: tagged !!float and no number"),
    ('{"a": 1}\n{"a": -1e400}', "f.yaml: document 2: the number -1e400 is out of range"),
    ("{a:}", "f.yaml:1:3: a colon with a bracket or comma behind it, which Kubernetes takes for text; put quotes or"),
    ("k: [a:, b]", "f.yaml:1:6: a colon with a bracket or comma behind it"),
    ("%YAML 1.2\n---\na: 1", "f.yaml:1:1: YAML 1.2, which Kubernetes refuses; take the %YAML line away"),
    ("a: 1\n---\nb: 1\n...\n%YAML 1.2\n---\nc: 1", "f.yaml:5:1: YAML 1.2, which Kubernetes refuses"),
    ("a: [", "f.yaml:2:1: did not find expected node content"),
    ("x: .nan", "f.yaml:1:4: infinity and NaN do not exist in JSON"),
    ("- 1", "f.yaml: expected an object, got 1"),
    ("just words", "f.yaml: expected an object, got 'just words'"),
    ("a: &a [*a]", "an alias that contains itself"),
    ("a: !!binary x", "f.yaml:1:4: not base64"),
    ("{a: b", "f.yaml:2:1"),
    ("[1, 2", "f.yaml:2:1"),
    (b"a: \xff", "f.yaml: not UTF-8 at byte 3"),
    ("? [a]\n: 1", "f.yaml:1:3: a key must be text"),
    ("a0: &a0 [x]\n" + DOUBLING, "its aliases expand to more than"),
    ("[" * 100_000, "f.yaml: nested deeper than 300"),
    ("- " * 100_000, "f.yaml: nested deeper than 300"),
]


@pytest.mark.parametrize(("text", "message"), MISTAKES, ids=range(len(MISTAKES)))
def test_a_mistake_is_named_with_its_place(text: str | bytes, message: str) -> None:
    with pytest.raises(DocumentError) as caught:
        load_documents(text, "f.yaml")
    assert message in str(caught.value)


numberlike = st.text("0178_.+-eExXbBoO:inyY~", min_size=1, max_size=7)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | numberlike
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(numberlike | st.text(), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=400)
@given(st.lists(st.dictionaries(numberlike | st.text(), values, min_size=1, max_size=4), min_size=1, max_size=3))
def test_what_is_written_reads_back_with_the_same_values_and_types(documents: list[Any]) -> None:
    read = load_values(dump_documents(documents))
    assert read == documents
    assert repr(read) == repr(documents)


class Pairs(list[tuple[str, Any]]):
    """An object as JSON may write it: keys may be duplicates."""

    def __str__(self) -> str:
        return "{" + ", ".join(f"{json.dumps(key)}: {written(value)}" for key, value in self) + "}"


def written(value: Any) -> str:
    if isinstance(value, Pairs):
        return str(value)
    return "[" + ",".join(map(written, value)) + "]" if isinstance(value, list) else json.dumps(value)


def has_twice(value: Any) -> bool:
    if isinstance(value, Pairs):
        return len({key for key, _ in value}) < len(value) or any(has_twice(inner) for _, inner in value)
    return isinstance(value, list) and any(map(has_twice, value))


json_texts = st.text('ab"\\:\n\u00e9', max_size=2)
json_values = st.recursive(
    st.none() | json_texts,
    lambda inner: st.lists(inner, max_size=3) | st.lists(st.tuples(json_texts, inner), max_size=3).map(Pairs),
    max_leaves=12,
)


@settings(max_examples=400)
@given(st.lists(st.tuples(json_texts, json_values), max_size=4).map(Pairs))
def test_json_is_refused_exactly_when_a_key_stands_twice(value: Pairs) -> None:
    try:
        read = load_values(str(value))
    except DocumentError as error:
        assert has_twice(value) and "duplicate key" in str(error)
    else:
        assert not has_twice(value) and read == [json.loads(str(value))]


QUOTED = [
    "y",
    "n",
    "on",
    "1e3",
    "0o14",
    "010",
    "0X1F",
    "1_000",
    "+_1",
    "1e_3",
    "null",
    "~",
    "",
    "<<",
    "08",
    ".5",
    "0b+0",
]
PLAIN = ["22:22", "2024-01-01", "0x_", "1.2.3", "yep", "0b2", "nope", "1e", "64Mi", "é"]


@pytest.mark.parametrize("text", QUOTED)
def test_a_text_that_kubernetes_would_take_for_something_else_is_quoted(text: str) -> None:
    assert dump_documents([{"a": text}]) == f"a: '{text}'\n"


@pytest.mark.parametrize("text", PLAIN)
def test_any_other_text_is_left_alone(text: str) -> None:
    assert dump_documents([{"a": text}]) == f"a: {text}\n"


def test_several_lines_are_a_block() -> None:
    assert dump_documents([{"a": "x\ny\n"}, {}]) == "a: |\n  x\n  y\n---\n{}\n"
