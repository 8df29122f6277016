"""Changes: what they make of a value, and that every difference that can be said leads where it should."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interpreters.cases.differences import UnsayableError, changed, difference
from interpreters.core.errors import InputError

CHANGES: list[tuple[Any, Any, Any]] = [  # value, change, result
    ({"a": 1}, {}, {"a": 1}),
    ({"a": 1}, {"b": {"c": 2}}, {"a": 1, "b": {"c": 2}}),
    ({"a": 1, "b": 2}, {"a": None}, {"b": 2}),
    ({"a": {"b": 1, "c": 2}}, {"a": {"b": 3}}, {"a": {"b": 3, "c": 2}}),
    ({"a": 1}, {"a": {"b": None, "c": 1}}, {"a": {"c": 1}}),
    ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
    ({"a": [1, 2, 3]}, {"a": {"1": 5}}, {"a": [1, 5, 3]}),
    ({"a": [{"b": 1, "c": 1}]}, {"a": {"0": {"b": 2}}}, {"a": [{"b": 2, "c": 1}]}),
    ({"a": [1, 2, 3]}, {"a": {"0": None, "2": None}}, {"a": [2]}),
    ({"a": [1]}, {"a": {"1": 2, "2": {"b": 3}}}, {"a": [1, 2, {"b": 3}]}),
    ({"a": [1]}, {"a": {}}, {"a": {}}),
    ({"a": {"0": 1}}, {"a": {"0": 2}}, {"a": {"0": 2}}),
    ({"a": [1]}, {"a": {"0": 2, "b": 1}}, {"a": {"0": 2, "b": 1}}),
]


@pytest.mark.parametrize(("value", "change", "result"), CHANGES)
def test_a_change_is_applied(value: Any, change: Any, result: Any) -> None:
    before = json.dumps([value, change])
    assert changed(value, change) == result
    assert json.dumps([value, change]) == before


def test_a_position_beyond_the_list_is_refused() -> None:
    with pytest.raises(InputError, match="position 3 is beyond the list, which has 1 elements"):
        changed([1], {"3": 1})


SMALLEST: list[tuple[Any, Any, Any]] = [  # before, after, change
    ([{"name": "x", "n": 1, "m": {"c": 1}}], [{"name": "x", "n": 2, "m": {"c": 1}}], {"0": {"n": 2}}),
    ({"a": [1, 2]}, {"a": [3, 4]}, {"a": [3, 4]}),
    ({"a": 1}, {"a": True}, {"a": True}),
    ({"a": 1}, {"a": 1.0}, {"a": 1.0}),
    ({"a": {"b": 1}}, {"a": {}}, {"a": {"b": None}}),
    ({"a": {"b": 1, "c": 2}}, {"a": {"c": 2, "b": 1}}, {}),
]


@pytest.mark.parametrize(("before", "after", "change"), SMALLEST)
def test_a_difference_says_no_more_than_needed(before: Any, after: Any, change: Any) -> None:
    assert json.dumps(difference(before, after)) == json.dumps(change)


@pytest.mark.parametrize(
    ("before", "after"),
    [({}, {"a": None}), ({"a": 1}, {"a": {"b": None}}), ({"a": [1]}, {"a": {"0": 1}})],
)
def test_what_a_change_cannot_say_is_named(before: Any, after: Any) -> None:
    with pytest.raises(UnsayableError):
        difference(before, after)


leaves = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["", "x", 1.0])
keys = st.sampled_from(["a", "b", "0", "1"])
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3), max_leaves=12
)


@given(values, values)
def test_a_difference_leads_from_one_to_the_other(before: Any, after: Any) -> None:
    try:
        change = difference(before, after)
    except UnsayableError:
        assert "null" in json.dumps(after) or '"0"' in json.dumps(after) or '"1"' in json.dumps(after)
    else:
        assert json.dumps(changed(before, change), sort_keys=True) == json.dumps(after, sort_keys=True)
