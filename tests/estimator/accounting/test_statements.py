"""What an admission asks is answered by an index, so that its cost does not grow with the ledger; and rows that
PostgreSQL is handed as one JSON text hold what its columns would have been handed one by one."""

from __future__ import annotations

import json
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.expression import ClauseElement, Executable

from estimator.accounting.ledger import queries
from estimator.accounting.ledger.columns import AnyText, Exact
from estimator.accounting.ledger.ledger import Ledger
from estimator.accounting.ledger.queries import rows_text
from estimator.accounting.ledger.schema import running_sums

QUESTIONS: list[tuple[Any, dict[str, Any]]] = [
    (queries.NAMED, {"namespaces": ["a", "b"], "names": ["x"]}),
    (queries.DUE, {"namespaces": ["a"], "now": 1.0}),
    (queries.SUMS, {"namespaces": ["a"], "values": ["", "m1"]}),
    (queries.MADE, {"requests": ["r"]}),
]


@pytest.mark.parametrize(("question", "values"), QUESTIONS, ids=["named", "due", "sums", "made"])
async def test_no_question_of_an_admission_reads_a_whole_table(
    ledger: Ledger, question: Any, values: dict[str, Any]
) -> None:
    is_sqlite = ledger.database.is_sqlite
    async with ledger.database.reading() as connection:
        if not is_sqlite:  # which reads a small table as a whole unless it is told not to
            await connection.execute(sa.text("SET LOCAL enable_seqscan = off"))
        explained = await connection.execute(_Explained(question), values)
        plan = "\n".join(str(row[-1]) for row in explained)
    scanned = [name for name in ("charges", "running_sums", "decisions") if f"SCAN {name}" in plan]
    assert ("SEARCH" if is_sqlite else "Index") in plan, plan
    assert not scanned, plan


class _Explained(Executable, ClauseElement):
    inherit_cache = False

    def __init__(self, statement: Any) -> None:
        self.statement = statement


@compiles(_Explained)
def _explain(element: Any, compiler: Any, **options: Any) -> str:
    verb = "EXPLAIN QUERY PLAN" if compiler.dialect.name == "sqlite" else "EXPLAIN"
    return f"{verb} {compiler.process(element.statement, **options)}"


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
