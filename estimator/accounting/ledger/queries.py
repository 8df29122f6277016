"""The statements of a page, made once: building one costs more than the database takes to answer it.

Each of them serves several namespaces, so that a transaction over many asks no more often than one over a single one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, Final, TypeVar

import msgspec
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from estimator.accounting.ledger.columns import AnyText, AnyTexts, Exact, among, escaped
from estimator.accounting.ledger.schema import charges, decisions, running_sums, sightings

_Item = TypeVar("_Item")
_MOST_AT_ONCE: Final = 4000  # values in one statement; both databases refuse more than 32 000


def _several(name: str) -> sa.BindParameter[Any]:
    return sa.bindparam(name, type_=AnyTexts)


_namespaces: Final = _several("namespaces")
_now: Final = sa.bindparam("now", type_=sa.Double)
_moment: Final = sa.bindparam("moment", type_=sa.Double)
_namespace: Final = sa.bindparam("namespace", type_=AnyText)

NAMED: Final = sa.select(charges).where(
    among(charges.c.namespace, _namespaces), among(charges.c.name, _several("names"))
)
DUE: Final = sa.select(charges).where(among(charges.c.namespace, _namespaces), charges.c.expires_at <= _now)
MIXED: Final = sa.select(charges).where(charges.c.namespace == _namespace, charges.c.is_mixed)
ALL: Final = sa.select(charges).where(charges.c.namespace == _namespace)
UNTOUCHED: Final = sa.select(charges).where(charges.c.namespace == _namespace, charges.c.updated_at <= _moment)
SUMS: Final = sa.select(running_sums).where(
    among(running_sums.c.namespace, _namespaces), among(running_sums.c.value, _several("values"))
)
ALL_SUMS: Final = sa.select(running_sums).where(running_sums.c.namespace == _namespace)
MADE: Final = sa.select(decisions).where(among(decisions.c.request, _several("requests"))).order_by(decisions.c.id)
RECORD: Final = sa.insert(decisions)
SIGHTINGS: Final = (
    sa.select(sightings)
    .where(sightings.c.namespace == _namespace)
    .order_by(sightings.c.api_group, sightings.c.kind, sightings.c.name)
)


@cache
def forget(table: sa.Table) -> sa.Delete:
    """Delete rows by their primary key; its values are bound as `key_<column>`."""
    same = [column == sa.bindparam(f"key_{column.name}", type_=column.type) for column in table.primary_key]
    return sa.delete(table).where(*same)


def key_of(table: sa.Table, row: dict[str, Any]) -> dict[str, Any]:
    return {f"key_{column.name}": row[column.name] for column in table.primary_key}


@cache
def upsert(insert: Callable[[sa.Table], Any], table: sa.Table) -> Any:
    """Write rows; one with the same primary key is replaced."""
    return _replacing(insert(table), table)


Row = dict[str, Any]


def written(insert: Callable[[sa.Table], Any], table: sa.Table, rows: list[Row]) -> tuple[Any, Row | list[Row]]:
    """The statement that writes rows, each replacing one with the same primary key, and its parameters."""
    if insert is not postgresql.insert:
        return upsert(insert, table), rows
    return _write_json(table), {"rows": rows_text(table, rows)}


def recorded(insert: Callable[[sa.Table], Any], rows: list[Row]) -> tuple[Any, Row | list[Row]]:
    """The statement that adds decisions, and its parameters."""
    if insert is not postgresql.insert:
        return RECORD, rows
    return _RECORD_JSON, {"rows": rows_text(decisions, rows)}


def rows_text(table: sa.Table, rows: list[Row]) -> str:
    """Rows as one parameter, in JSON. To bind and execute each by itself costs PostgreSQL, and to encode them value by
    value costs the driver, more than what is in them."""
    exact = [column.name for column in table.columns if isinstance(column.type, Exact)]
    plain = [{**row, **{name: _digits(row[name]) for name in exact}} for row in rows] if exact else rows
    try:
        text = msgspec.json.encode(plain)
    except UnicodeEncodeError:  # half a surrogate pair
        text = b"\\\\"
    if b"\\\\" in text or b"\\u0000" in text:  # a character that a column may have to escape
        odd = [column.name for column in table.columns if isinstance(column.type, AnyText)]
        text = msgspec.json.encode([{**row, **{name: _escaped(row.get(name)) for name in odd}} for row in plain])
    return text.decode()


def _digits(value: int | None) -> str | None:
    return None if value is None else str(value)


def _escaped(value: str | None) -> str | None:
    return None if value is None else escaped(value)


@cache
def _write_json(table: sa.Table) -> Any:
    return _replacing(_insert_json(table, list(table.columns)), table)


def _insert_json(table: sa.Table, columns: list[sa.Column[Any]]) -> Any:
    text = sa.cast(sa.bindparam("rows", type_=sa.Text), postgresql.JSON)
    fields = [sa.column(column.name, column.type) for column in columns]
    found = sa.func.json_to_recordset(text).table_valued(*fields).render_derived(with_types=True)
    values = sa.select(*(found.c[column.name] for column in columns))
    return postgresql.insert(table).from_select([column.name for column in columns], values)


def _replacing(statement: Any, table: sa.Table) -> Any:
    keys = [column.name for column in table.primary_key]
    others = {column.name: statement.excluded[column.name] for column in table.columns if column.name not in keys}
    return statement.on_conflict_do_update(index_elements=keys, set_=others)


_RECORD_JSON: Final = _insert_json(decisions, [column for column in decisions.columns if column.name != "id"])


def slices(items: Sequence[_Item]) -> Iterator[Sequence[_Item]]:
    """As many at once as a statement may hold."""
    for start in range(0, len(items), _MOST_AT_ONCE):
        yield items[start : start + _MOST_AT_ONCE]
