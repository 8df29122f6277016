"""Samples in the ledger's database: each goes into its hour and its day, so nothing has to be thinned out later.

An hour or a day keeps the last figures and the most that was used in it. Hours are kept for a month and days for three
years unless the settings say otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from estimator.accounting.defaults import DAILY_DAYS, HOURLY_DAYS
from estimator.accounting.history.series import DAY, Point, Reading, Series, Subject
from estimator.accounting.ledger.ledger import Ledger
from estimator.accounting.ledger.queries import slices, upsert
from estimator.accounting.ledger.schema import moments, samples

SAMPLED: Final = "sampled"
"""The moment at which any server last took a sample."""

_WEEK: Final = 7 * DAY
_ENOUGH: Final = 7  # days
STEPS: Final = {"hour": 3600, "day": DAY}
Step = Literal["hour", "day"]


@dataclass(frozen=True, slots=True)
class Retention:
    """Seconds that samples of each step are kept."""

    hour: float = HOURLY_DAYS * DAY
    day: float = DAILY_DAYS * DAY


async def record(
    ledger: Ledger, readings: Sequence[Reading], *, every: float = 0.0, retention: Retention | None = None
) -> bool:
    """Write a sample and forget old ones, unless another server took one within `every` seconds; whether it did."""
    async with ledger.database.charging() as connection:
        now = await ledger.clock(connection)
        last = await connection.scalar(sa.select(moments.c.at).where(moments.c.name == SAMPLED).with_for_update())
        if last is not None and now - last < every:
            return False
        await connection.execute(upsert(ledger.database.insert, moments), [{"name": SAMPLED, "at": now}])
        for seconds in STEPS.values():
            await _record(ledger, connection, readings, seconds, int(now // seconds) * seconds)
        kept = retention or Retention()
        for name, seconds in STEPS.items():
            old = sa.and_(samples.c.step == seconds, samples.c.at < now - getattr(kept, name))
            await connection.execute(sa.delete(samples).where(old))
    return True


async def _record(
    ledger: Ledger, connection: AsyncConnection, readings: Sequence[Reading], seconds: int, start: int
) -> None:
    query = sa.select(samples).where(samples.c.step == seconds, samples.c.at == start)
    known = {_subject(row): row.most for row in await connection.execute(query)}
    rows: list[dict[str, Any]] = [
        {
            "step": seconds, "at": start, **reading.subject._asdict(), "limit": reading.limit, "used": reading.used,
            "most": max(reading.used, known.get(reading.subject, 0)), "provisional": reading.provisional,
        }
        for reading in readings
    ]  # fmt: skip
    for part in slices(rows):
        await connection.execute(upsert(ledger.database.insert, samples), list(part))


async def read_history(ledger: Ledger, since: float, step: Step, namespace: str | None = None) -> list[Series]:
    """Every quota's points of the last `since` seconds, in order of quota and time."""
    query = sa.select(samples).where(samples.c.step == STEPS[step])
    if namespace is not None:
        query = query.where(samples.c.namespace == namespace)
    async with ledger.database.reading() as connection:
        oldest = await ledger.clock(connection) - since
        order = (*(samples.c[name] for name in Subject._fields), samples.c.at)
        rows = await connection.execute(query.where(samples.c.at > oldest - STEPS[step]).order_by(*order))
        return _series((_subject(row), Point(row.at, row.limit, row.used, row.most, row.provisional)) for row in rows)


async def read_steps(
    ledger: Ledger, since: float, namespace: str | None = None, step: Step | None = None
) -> list[Series]:
    """The same by the step that shows most: days of more than a week where there are enough of them, else hours."""
    if step is not None:
        return await read_history(ledger, since, step, namespace)
    days = await read_history(ledger, since, "day", namespace) if since > _WEEK else []
    if any(len(series.points) > _ENOUGH for series in days):
        return days
    return await read_history(ledger, since, "hour", namespace)


def _series(points: Iterable[tuple[Subject, Point]]) -> list[Series]:
    found: dict[Subject, list[Point]] = {}
    for subject, point in points:
        found.setdefault(subject, []).append(point)
    return [Series(subject, found[subject]) for subject in sorted(found)]


def _subject(row: Any) -> Subject:
    return Subject(row.kind, row.namespace, row.name, row.cluster, row.key)
