"""The statements of a page, made once: building one costs more than the database takes to answer it.

Each of them serves several namespaces, so that a transaction over many asks no more often than one over a single one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, Final, TypeVar

import sqlalchemy as sa

from estimator.accounting.columns import AnyText
from estimator.accounting.schema import charges, decisions, running_sums, sightings

_Item = TypeVar("_Item")
_MOST_AT_ONCE: Final = 4000  # values in one statement; both databases refuse more than 32 000


def _several(name: str) -> sa.BindParameter[Any]:
    return sa.bindparam(name, type_=AnyText, expanding=True)


_namespaces: Final = _several("namespaces")
_now: Final = sa.bindparam("now", type_=sa.Double)
_moment: Final = sa.bindparam("moment", type_=sa.Double)
_namespace: Final = sa.bindparam("namespace", type_=AnyText)

NAMED: Final = sa.select(charges).where(charges.c.namespace.in_(_namespaces), charges.c.name.in_(_several("names")))
DUE: Final = sa.select(charges).where(charges.c.namespace.in_(_namespaces), charges.c.expires_at <= _now)
MIXED: Final = sa.select(charges).where(charges.c.namespace == _namespace, charges.c.is_mixed)
ALL: Final = sa.select(charges).where(charges.c.namespace == _namespace)
UNTOUCHED: Final = sa.select(charges).where(charges.c.namespace == _namespace, charges.c.updated_at <= _moment)
SUMS: Final = sa.select(running_sums).where(
    running_sums.c.namespace.in_(_namespaces), running_sums.c.value.in_(_several("values"))
)
ALL_SUMS: Final = sa.select(running_sums).where(running_sums.c.namespace == _namespace)
MADE: Final = sa.select(decisions).where(decisions.c.request.in_(_several("requests"))).order_by(decisions.c.id)
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
    statement = insert(table)
    keys = [column.name for column in table.primary_key]
    others = {column.name: statement.excluded[column.name] for column in table.columns if column.name not in keys}
    return statement.on_conflict_do_update(index_elements=keys, set_=others)


def slices(items: Sequence[_Item]) -> Iterator[Sequence[_Item]]:
    """As many at once as a statement may hold."""
    for start in range(0, len(items), _MOST_AT_ONCE):
        yield items[start : start + _MOST_AT_ONCE]
