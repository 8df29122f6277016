"""Amounts packed into one integer compare and subtract as they do one by one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from estimator.fit.bitfields import Fields

AMOUNTS = st.tuples(*[st.one_of(st.integers(0, 5), st.integers(0, 2**70))] * 3)


@given(AMOUNTS, AMOUNTS)
def test_one_subtraction_tells_whether_everything_fits_and_what_is_left(
    free: tuple[int, int, int], need: tuple[int, int, int]
) -> None:
    fields = Fields.wide_enough([*([amount] for amount in free), *([amount] for amount in need)], resources=3)
    row = fields.rows([[amount] for amount in free])[0]
    rest = row - fields.amount(need)
    fits = all(amount >= wanted for amount, wanted in zip(free, need, strict=True))
    assert (rest & fields.guards == fields.guards) == fits
    if fits:
        assert fields.columns([rest]) == [[amount - wanted] for amount, wanted in zip(free, need, strict=True)]


@given(st.lists(AMOUNTS, max_size=5))
def test_rows_come_back_as_they_were(rows: list[tuple[int, int, int]]) -> None:
    columns = [[row[resource] for row in rows] for resource in range(3)]
    fields = Fields.wide_enough(columns, resources=3)
    assert fields.columns(fields.rows(columns)) == columns


def test_parts_leave_out_what_is_not_needed() -> None:
    fields = Fields.wide_enough([[7], [0], [3]], resources=3)
    assert fields.places == ((0, 3), (4, 0), (5, 2))
    assert fields.parts([2, 0, 1]) == [(0, 7, 2), (5, 3, 1)]
