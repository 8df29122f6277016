"""A patch turns the original into the changed object, says nothing about what is untouched, and fits RFC 6902."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interpreters.core.errors import RequestError
from interpreters.core.patch import apply, diff, same

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5)
)
keys = st.text(alphabet="ab/~é", max_size=2)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(keys, inner, max_size=5), max_leaves=20
)
objects = st.dictionaries(keys, values, max_size=5)

UNTOUCHED: list[tuple[Any, Any]] = [
    ({"a": 2**53 + 1}, {"a": 2**53 + 1}),
    ({"a": 2.0}, {"a": 2}),
    ({"a": {}, "b": []}, {"a": {}, "b": []}),
    ({"a": None}, {}),
    ({}, {"a": None}),
]

CHANGED: list[tuple[Any, Any, Any]] = [
    ({"a": 1}, {"a": True}, [{"op": "replace", "path": "/a", "value": True}]),
    ({"a": {}}, {"a": []}, [{"op": "replace", "path": "/a", "value": []}]),
    ({"a": 1}, {}, [{"op": "remove", "path": "/a"}]),
    ({}, {"a": 1}, [{"op": "add", "path": "/a", "value": 1}]),
    ({"x/y~z": 1}, {"x/y~z": 2}, [{"op": "replace", "path": "/x~1y~0z", "value": 2}]),
    ({"a": [1, 2, 3]}, {"a": [2, 3]}, [{"op": "remove", "path": "/a/0"}]),
    ({"a": [1, 3]}, {"a": [1, 2, 3]}, [{"op": "add", "path": "/a/1", "value": 2}]),
    ({"a": 2**53 + 1}, {"a": 2**53}, [{"op": "replace", "path": "/a", "value": 2**53}]),
]


@pytest.mark.parametrize(("original", "changed"), UNTOUCHED)
def test_untouched_fields_are_left_out(original: Any, changed: Any) -> None:
    assert diff(original, changed) == []


@pytest.mark.parametrize(("original", "changed", "patch"), CHANGED)
def test_a_change_is_one_operation(original: Any, changed: Any, patch: Any) -> None:
    assert diff(original, changed) == patch


@given(objects, objects)
def test_applying_the_difference_gives_the_changed_object(original: Any, changed: Any) -> None:
    before = json.dumps(original)
    assert same(apply(original, diff(original, changed)), changed)
    assert json.dumps(original) == before


@given(objects)
def test_an_object_does_not_differ_from_itself(original: Any) -> None:
    assert diff(original, json.loads(json.dumps(original))) == []


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "remove", "path": "/missing"},
        {"op": "replace", "path": "/missing", "value": 1},
        {"op": "add", "path": "/list/7", "value": 1},
        {"op": "add", "path": "/text/x", "value": 1},
    ],
)
def test_a_patch_that_does_not_fit_is_refused(operation: dict[str, Any]) -> None:
    with pytest.raises(RequestError, match="does not fit"):
        apply({"list": [1], "text": "t"}, [operation])
