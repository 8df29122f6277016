"""Bringing an older ledger up to date, step by step, inside the transaction of whoever opens it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Final

import sqlalchemy as sa

from estimator.accounting.demand import WorkloadKey, demand_decoder
from estimator.accounting.ledger.charges import Charge
from estimator.accounting.ledger.rows import charge_row, read_charge, workload_columns
from estimator.accounting.ledger.schema import (
    charges,
    decisions,
    moments,
    running_sums,
    samples,
    schema_version,
    sightings,
    tables,
)
from estimator.accounting.ledger.sums import NOTHING, POD_DIMENSIONS, Sums, change, footprint, sum_rows
from interpreters.core.errors import InputError, QuantityError

_AT_ONCE: Final = 1000  # rows


def migrate(connection: sa.Connection, *, create: bool = True) -> int:
    """Bring the database to the newest version; the version it now has. Raises `InputError` for one that is newer, that
    is somebody else's, or that holds no ledger when none is to be made."""
    names = sa.inspect(connection).get_table_names()
    refuse_strangers(names, create=create, shared=connection.dialect.name != "sqlite")
    schema_version.create(connection, checkfirst=True)
    found = connection.scalar(sa.select(schema_version.c.version)) or 0
    if found > NEWEST:
        raise InputError(f"the ledger has schema version {found}, this release knows {NEWEST}: use a newer interp")
    if found == 0:
        tables.create_all(connection)
    for step in STEPS[found - 1 :] if found else ():
        step(connection)
    if found < NEWEST:
        connection.execute(sa.delete(schema_version))
        connection.execute(sa.insert(schema_version).values(version=NEWEST))
    return NEWEST


def refuse_strangers(names: Collection[str], *, create: bool, shared: bool) -> None:
    """A file with other tables is not ours to write into, nor is a table that only has the name of one of ours in a
    database that is `shared`. Raises `InputError`."""
    if schema_version.name in names:
        return
    if others := sorted({*names} & {*tables.tables} if shared else names):
        raise InputError(f"the database holds no ledger, but tables of something else: {', '.join(others[:5])}")
    if not create:
        raise InputError("the database holds no ledger; a server or `interp ledger reconcile` makes one")


def _to_second(connection: sa.Connection) -> None:
    """Sightings came."""
    connection.execute(
        sa.text(
            "CREATE TABLE sightings (workload VARCHAR PRIMARY KEY, namespace VARCHAR NOT NULL, demand TEXT NOT NULL, "
            "seen_at DOUBLE PRECISION NOT NULL)"
        )
    )


def _to_third(connection: sa.Connection) -> None:
    """Keys of several columns instead of one joined text, exact amounts of any size, and running sums."""
    old = {}
    for name in ("charges", "decisions", "sightings"):
        connection.execute(sa.text(f"ALTER TABLE {name} RENAME TO {name}_2"))
        old[name] = sa.Table(f"{name}_2", sa.MetaData(), autoload_with=connection)
    for table in (charges, running_sums, moments, decisions, sightings):
        table.create(connection)
    _copy_charges(connection, old["charges"])
    _copy(connection, old["decisions"], decisions, lambda row: _keyed(row) | {"digest": "", "reason": ""})
    _copy(connection, old["sightings"], sightings, _keyed)
    for name in ("charges_2", "decisions_2", "sightings_2", "charge_amounts"):
        connection.execute(sa.text(f"DROP TABLE {name}"))


def _to_fourth(connection: sa.Connection) -> None:
    """History came."""
    samples.create(connection)


def _to_fifth(connection: sa.Connection) -> None:
    """Sums tell pods of best effort from the others, for the scopes of quotas."""
    connection.execute(sa.delete(running_sums).where(running_sums.c.dimension.in_(POD_DIMENSIONS)))
    sums: dict[str, Sums] = {}
    for row in connection.execute(sa.select(charges)):
        charge = read_charge(row)
        added = {key: amount for key, amount in footprint(charge).items() if key.dimension in POD_DIMENSIONS}
        change(sums.setdefault(charge.workload.namespace, {}), added)
    _write_sums(connection, sums)


def _write_sums(connection: sa.Connection, sums: dict[str, Sums]) -> None:
    for namespace, total in sums.items():
        if kept := sum_rows(namespace, ((key, amount) for key, amount in total.items() if amount != NOTHING)):
            connection.execute(sa.insert(running_sums), kept)


def _copy(connection: sa.Connection, old: sa.Table, new: sa.Table, row_of: Callable[[Any], dict[str, Any]]) -> None:
    names = {column.name for column in new.columns if column.autoincrement is not True}
    for rows in _rows(connection, old):
        copied = (row_of(row) for row in rows)
        connection.execute(
            sa.insert(new), [{name: value for name, value in row.items() if name in names} for row in copied]
        )


def _rows(connection: sa.Connection, old: sa.Table) -> Iterator[Sequence[Any]]:
    """A table's rows in order of its key, some at a time: a cursor would keep the table from being dropped."""
    (key,) = old.primary_key
    query = sa.select(old).order_by(key).limit(_AT_ONCE)
    rows = connection.execute(query).all()
    while rows:
        yield rows
        rows = connection.execute(query.where(key > rows[-1]._mapping[key])).all()


def _keyed(row: Any) -> dict[str, Any]:
    """A row of an old table with its key taken apart."""
    return {**row._mapping, **workload_columns(_workload(row.workload, row.namespace))}


def _workload(text: str, namespace: str) -> WorkloadKey:
    """`group/kind/namespace/name`: only the name, the last, may hold further slashes."""
    group, kind, rest = text.split("/", 2)
    return WorkloadKey(group, kind, namespace, rest.removeprefix(f"{namespace}/"))


def _copy_charges(connection: sa.Connection, old: sa.Table) -> None:
    sums: dict[str, Sums] = {}
    for rows in _rows(connection, old):
        copied = [_read_charge(row) for row in rows]
        for charge in copied:
            try:
                change(sums.setdefault(charge.workload.namespace, {}), footprint(charge))
            except QuantityError as error:  # such a charge was never written
                raise InputError(f"the ledger cannot be brought up to date: {charge.workload}: {error}") from None
        connection.execute(sa.insert(charges), [charge_row(charge) for charge in copied])
    _write_sums(connection, sums)


def _read_charge(row: Any) -> Charge:
    confirmed, provisional = (
        None if text is None else demand_decoder.decode(text) for text in (row.confirmed, row.provisional)
    )
    return Charge(
        workload=_workload(row.workload, row.namespace),
        owner=_workload(row.owner, row.namespace) if row.owner else None,
        uid=row.uid,
        provisional_uid=row.uid if provisional is not None else "",
        generation=row.generation,
        confirmed=confirmed,
        provisional=provisional,
        expires_at=row.expires_at,
        source=row.source,
        updated_at=row.updated_at,
    )


STEPS: Final[tuple[Callable[[sa.Connection], None], ...]] = (_to_second, _to_third, _to_fourth, _to_fifth)
"""Step n brings version n to version n + 1. Only ever append."""

NEWEST: Final = len(STEPS) + 1
