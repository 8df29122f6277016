"""The ledger's tables, the same on SQLite and PostgreSQL, and the numbered steps that bring an older file up to date.

The steps are plain functions over one `schema_version` row: there is one schema and it only grows, so a migration
framework would add more files than there are steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import sqlalchemy as sa
from sqlalchemy import BigInteger, Boolean, Column, Double, Index, Integer, MetaData, String, Table, Text

from interpreters.core.errors import InputError

tables = MetaData()

schema_version = Table("schema_version", tables, Column("version", Integer, nullable=False))

quota_scopes = Table(
    "quota_scopes",
    tables,
    Column("namespace", String, primary_key=True),
    comment="One row per namespace; whoever wants to charge it locks the row first.",
)

charges = Table(
    "charges",
    tables,
    Column("workload", String, primary_key=True, comment="group/kind/namespace/name"),
    Column("namespace", String, nullable=False),
    Column("owner", String, comment="the workload that controls this one"),
    Column("uid", String, nullable=False, default=""),
    Column("generation", BigInteger, nullable=False, default=0),
    Column("confirmed", Text, comment="demand as JSON: what was seen"),
    Column("provisional", Text, comment="demand as JSON: what was admitted and not seen yet"),
    Column("expires_at", Double, comment="when the provisional part lapses, seconds since 1970"),
    Column("source", String, nullable=False, default=""),
    Column("updated_at", Double, nullable=False),
    Column("marked_at", Double, comment="when a reconcile last found it in the truth"),
    Index("charges_expiry", "expires_at"),
    Index("charges_namespace", "namespace"),
)

# A nano-unit sum does not fit in 64 bits, so an amount is kept as two numbers that each can be summed safely.
NANOS_PER_THOUSAND: Final = 10**12

charge_amounts = Table(
    "charge_amounts",
    tables,
    Column("workload", String, primary_key=True),
    Column("resource", String, primary_key=True),
    Column("namespace", String, nullable=False),
    Column("owner", String),
    Column("thousands", BigInteger, nullable=False, comment="whole thousands of units"),
    Column("nanos", BigInteger, nullable=False, comment="the rest, in nano-units"),
    Index("charge_amounts_sum", "namespace", "resource", "workload", "owner", "thousands", "nanos"),
)

decisions = Table(
    "decisions",
    tables,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("request", String, nullable=False, unique=True, comment="uid of the request; a redelivery has the same"),
    Column("at", Double, nullable=False),
    Column("username", String, nullable=False, default=""),
    Column("operation", String, nullable=False),
    Column("namespace", String, nullable=False),
    Column("workload", String, nullable=False),
    Column("allowed", Boolean, nullable=False),
    Column("mode", String, nullable=False, default=""),
    Column("message", Text, nullable=False, default=""),
    Column("asked", Text, nullable=False, default="{}", comment="amounts as JSON"),
    Index("decisions_at", "at"),
)

sightings = Table(
    "sightings",
    tables,
    Column("workload", String, primary_key=True, comment="group/kind/namespace/name"),
    Column("namespace", String, nullable=False),
    Column("demand", Text, nullable=False, comment="demand as JSON: what Karmada asked about; it counts for nothing"),
    Column("seen_at", Double, nullable=False),
    Index("sightings_namespace", "namespace"),
    Index("sightings_seen_at", "seen_at"),
)


def _first(connection: sa.Connection) -> None:
    for table in (quota_scopes, charges, charge_amounts, decisions):
        table.create(connection, checkfirst=True)


def _second(connection: sa.Connection) -> None:
    sightings.create(connection, checkfirst=True)


STEPS: Final[tuple[Callable[[sa.Connection], None], ...]] = (_first, _second)
"""Step n brings version n to version n + 1. Only ever append."""


def migrate(connection: sa.Connection) -> int:
    """Bring the database to the newest version, inside the caller's transaction; the version it now has."""
    schema_version.create(connection, checkfirst=True)
    found = connection.scalar(sa.select(schema_version.c.version)) or 0
    if found > len(STEPS):
        raise InputError(f"the ledger has schema version {found}, this release knows {len(STEPS)}: use a newer interp")
    for step in STEPS[found:]:
        step(connection)
    if found < len(STEPS):
        connection.execute(sa.delete(schema_version))
        connection.execute(sa.insert(schema_version).values(version=len(STEPS)))
    return len(STEPS)
