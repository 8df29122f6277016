"""Replicas shared out by weight add up, stay within one of the exact share, and never depend on order."""

from __future__ import annotations

from fractions import Fraction
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from estimator.placement.division import Rounding, divide

NAMES = st.sampled_from("abcdefgh")
WEIGHTS = st.dictionaries(NAMES, st.integers(0, 1000), min_size=1)

CASES = [  # total, weights, by largest remainder, by webster
    (9, {"a": 1, "b": 2}, {"a": 3, "b": 6}, {"a": 3, "b": 6}),
    (9, {"a": 1, "b": 3}, {"a": 2, "b": 7}, {"a": 2, "b": 7}),
    (1, {"b": 1, "a": 1}, {"b": 0, "a": 1}, {"b": 0, "a": 1}),
    (5, {"b": 1, "a": 1, "c": 1}, {"b": 2, "a": 2, "c": 1}, {"b": 2, "a": 2, "c": 1}),
    (2, {"a": 2, "b": 2, "c": 7}, {"a": 1, "b": 0, "c": 1}, {"a": 0, "b": 0, "c": 2}),
    (0, {"a": 2}, {"a": 0}, {"a": 0}),
    (7, {"a": 0, "b": 0}, {"a": 0, "b": 0}, {"a": 0, "b": 0}),
    (4, {"a": 0, "b": 5}, {"a": 0, "b": 4}, {"a": 0, "b": 4}),
    (100, {"a": 90, "b": 2, "c": 2, "d": 2, "e": 2, "f": 2}, {"a": 90, "b": 2, "c": 2, "d": 2, "e": 2, "f": 2},
     {"a": 90, "b": 2, "c": 2, "d": 2, "e": 2, "f": 2}),
]  # fmt: skip


@pytest.mark.parametrize(("total", "weights", "largest", "webster"), CASES)
def test_replicas_are_shared_out_by_weight(
    total: int, weights: dict[str, int], largest: dict[str, int], webster: dict[str, int]
) -> None:
    assert divide(total, weights) == largest
    assert divide(total, weights, "webster") == webster


def test_webster_breaks_ties_by_the_workloads_uid() -> None:
    firsts = {next(name for name, got in divide(1, {"a": 1, "b": 1}, "webster", uid).items() if got) for uid in "abcd"}
    assert firsts == {"a", "b"}


@given(st.integers(0, 5000), WEIGHTS)
def test_the_largest_remainder_stays_within_one_of_the_exact_share(total: int, weights: dict[str, int]) -> None:
    got = divide(total, weights)
    whole = sum(weights.values())
    if whole:
        assert all(abs(got[name] - Fraction(total * weight, whole)) < 1 for name, weight in weights.items())
    if total <= whole:
        assert all(got[name] <= weight for name, weight in weights.items())


@given(st.integers(0, 300), WEIGHTS, st.sampled_from(get_args(Rounding)), st.text(max_size=4))
def test_shares_add_up_and_do_not_depend_on_order(
    total: int, weights: dict[str, int], rounding: Rounding, uid: str
) -> None:
    got = divide(total, weights, rounding, uid)
    assert sum(got.values()) == (total if any(weights.values()) else 0)
    assert divide(total, dict(reversed(weights.items())), rounding, uid) == got
