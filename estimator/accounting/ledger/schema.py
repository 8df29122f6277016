"""The ledger's tables, the same on SQLite and PostgreSQL, and which version of them a database has.

A new database gets them as they are; an older one is brought up to date by the steps of `migration.py`, inside one
transaction. There is one schema and it only grows, so a migration framework would add more files than there are steps.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy import BigInteger, Boolean, Column, Double, Index, Integer, MetaData, Table, Text

from estimator.accounting.ledger.columns import AnyText, Exact

tables = MetaData()

schema_version = Table("schema_version", tables, Column("version", Integer, nullable=False))

quota_scopes = Table(
    "quota_scopes",
    tables,
    Column("namespace", AnyText, primary_key=True),
    comment="One row per namespace; whoever wants to charge it locks the row first.",
)

moments = Table(
    "moments",
    tables,
    Column("name", AnyText, primary_key=True),
    Column("at", Double, nullable=False),
    comment="When something was last done by any server, such as a reconcile, by the database's clock.",
)


def _workload() -> list[Column[str]]:
    """Who is charged. Name before kind: names tell workloads apart."""
    return [Column(name, AnyText, primary_key=True) for name in ("namespace", "name", "kind", "api_group")]


charges = Table(
    "charges",
    tables,
    *_workload(),
    Column("owner_group", AnyText, comment="the workload that controls this one, in the same namespace"),
    Column("owner_kind", AnyText),
    Column("owner_name", AnyText),
    Column("uid", AnyText, nullable=False, default="", comment="of the object that is confirmed"),
    Column("provisional_uid", AnyText, nullable=False, default="", comment="of the object that was admitted"),
    Column("generation", BigInteger, nullable=False, default=0, comment="of the object that was admitted"),
    Column("object_created", Double, comment="creationTimestamp of the newest object, seconds since 1970"),
    Column("object_version", Exact, comment="resourceVersion that the newest update replaces"),
    Column("binding_uid", AnyText, nullable=False, default=""),
    Column("binding_created", Double),
    Column("binding_version", Exact, comment="newest resourceVersion known of the binding"),
    Column("confirmed", Text, comment="demand as JSON: what was seen"),
    Column("provisional", Text, comment="demand as JSON: what was admitted and not seen yet"),
    Column("expires_at", Double, comment="when the provisional part lapses, by the database's clock"),
    Column("is_mixed", Boolean, nullable=False, comment="both parts, and not all pods of one priority class"),
    Column("source", AnyText, nullable=False, default=""),
    Column("updated_at", Double, nullable=False),
    Index("charges_due", "namespace", "expires_at"),
    Index(
        "charges_mixed", "namespace", postgresql_where=sa.text("is_mixed"), sqlite_where=sa.text("is_mixed")
    ),
)  # fmt: skip

running_sums = Table(
    "running_sums",
    tables,
    Column("namespace", AnyText, primary_key=True),
    Column("dimension", AnyText, primary_key=True, comment="all, cluster or priority"),
    Column("value", AnyText, primary_key=True, comment="the cluster or priority class; empty for all"),
    Column("resource", AnyText, primary_key=True),
    Column("charged", Exact, nullable=False, comment="nano-units: the larger of confirmed and provisional"),
    Column("confirmed", Exact, nullable=False, comment="nano-units of what was seen"),
    comment="Sums over the namespace's charges, kept with every change of a charge.",
)

decisions = Table(
    "decisions",
    tables,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("request", AnyText, nullable=False, comment="uid of the request; a redelivery has the same"),
    Column("digest", AnyText, nullable=False, default="", comment="of what was asked, to know a redelivery by"),
    Column("at", Double, nullable=False),
    Column("username", AnyText, nullable=False, default=""),
    Column("operation", AnyText, nullable=False),
    Column("namespace", AnyText, nullable=False),
    Column("name", AnyText, nullable=False),
    Column("kind", AnyText, nullable=False),
    Column("api_group", AnyText, nullable=False),
    Column("allowed", Boolean, nullable=False),
    Column("mode", AnyText, nullable=False, default=""),
    Column("reason", AnyText, nullable=False, default="", comment="of a denial, as the API server was told"),
    Column("message", AnyText, nullable=False, default=""),
    Column("asked", Text, nullable=False, default="{}", comment="amounts as JSON"),
    Index("decisions_request", "request"),
    Index("decisions_made_at", "at"),
    comment="Append-only: what was decided is never changed, only forgotten after the retention.",
)

sightings = Table(
    "sightings",
    tables,
    *_workload(),
    Column("demand", Text, nullable=False, comment="demand as JSON: what Karmada asked about; it counts for nothing"),
    Column("seen_at", Double, nullable=False),
    Index("sightings_age", "seen_at"),
)

samples = Table(
    "samples",
    tables,
    Column("step", Integer, primary_key=True, autoincrement=False, comment="seconds: an hour or a day"),
    Column("at", BigInteger, primary_key=True, autoincrement=False, comment="when the step began, since 1970"),
    *(Column(name, AnyText, primary_key=True) for name in ("kind", "namespace", "name", "cluster", "key")),
    Column("limit", Exact, nullable=False),
    Column("used", Exact, nullable=False, comment="charged at the last sample of the step"),
    Column("most", Exact, nullable=False, comment="the most that was charged at any of them"),
    Column("provisional", Exact, nullable=False),
    comment="What each quota allowed and was charged for, by the hour and by the day.",
)
