"""Rows that PostgreSQL is handed as one JSON text hold what its columns would have been handed one by one."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from estimator.accounting.columns import AnyText, Exact
from estimator.accounting.schema import running_sums
from estimator.accounting.statements import rows_text

texts = st.text(st.characters(codec=None) | st.sampled_from(["\0", "\\", "\ud800", '"', "\n"]), max_size=8)
sums = st.fixed_dictionaries(
    {column.name: st.integers() if isinstance(column.type, Exact) else texts for column in running_sums.columns}
)


@given(st.lists(sums, max_size=4))
def test_each_value_is_what_its_column_makes_of_it(rows: list[dict[str, str | int]]) -> None:
    kinds = {column.name: column.type for column in running_sums.columns}

    def stored(name: str, value: str | int) -> str | None:
        kind = kinds[name]
        assert isinstance(kind, AnyText | Exact)
        return kind.process_bind_param(value, None)  # type: ignore[arg-type]

    assert json.loads(rows_text(running_sums, rows)) == [
        {name: stored(name, value) for name, value in row.items()} for row in rows
    ]
