"""YAML and JSON are read as Kubernetes reads them."""

from __future__ import annotations

from typing import Any

import pytest

from interpreters.core.documents import load_documents
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
]


@pytest.mark.parametrize(("text", "value"), SCALARS)
def test_a_plain_scalar_has_the_type_kubernetes_gives_it(text: str, value: Any) -> None:
    (document,) = load_documents(f"a: {text}")
    assert document["a"] == value
    assert type(document["a"]) is type(value)


def test_keys_are_text() -> None:
    assert load_documents("1: a\ntrue: b\n1.5: c") == [{"1": "a", "true": "b", "1.5": "c"}]


def test_documents_and_lists_are_taken_apart() -> None:
    text = "---\n---\nkind: A\n---\nkind: List\nitems:\n- kind: B\n- kind: CList\n  apiVersion: v1\n  items: [{x: 1}]\n"
    assert load_documents(text) == [{"kind": "A"}, {"kind": "B"}, {"apiVersion": "v1", "kind": "C", "x": 1}]


def test_merge_keys_work_and_may_be_overridden() -> None:
    assert load_documents("a: &a {x: 1, z: 2}\nb:\n  <<: *a\n  z: 3")[0]["b"] == {"x": 1, "z": 3}


DOUBLING = "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12))

MISTAKES = [
    ("a: 1\na: 2", 'f.yaml:2:1: the key "a" stands twice'),
    ("a: [", "f.yaml:2:1: did not find expected node content"),
    ("x: .nan", "f.yaml:1:4: infinity and NaN do not exist in JSON"),
    ("- 1", "f.yaml: expected an object, got 1"),
    ("just words", "f.yaml: expected an object, got 'just words'"),
    ("a: &a [*a]", "an alias that contains itself"),
    ("a: !!python/object:os.system x", "could not determine a constructor for the tag"),
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
