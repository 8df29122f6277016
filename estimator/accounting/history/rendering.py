"""The history of quotas for people and programs: a table with small charts, CSV, and the structs of the JSON."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from io import StringIO
from typing import Final

from estimator.accounting.history.series import Point, Series
from estimator.accounting.history.trend import Trend, trend_of
from estimator.accounting.readable import plain_number, readable, unit_of
from estimator.accounting.spreadsheets import harmless
from estimator.quotas.amounts import quantity
from interpreters.core.requirements import Wire
from interpreters.core.texts import printable

_BLOCKS: Final = "▁▂▃▄▅▆▇█"
_WIDTH: Final = 30
_HEADER: Final = ("quota", "key", "used over time", "used", "limit", "share", "a day", "full at this pace")


class HistoryPoint(Wire, frozen=True, omit_defaults=False):
    """An hour or a day: the last figures of it, and the most that was used."""

    at: str
    limit: str
    used: str
    most: str
    provisional: str


class QuotaHistory(Wire, frozen=True, omit_defaults=False):
    """One key of a quota. `full_on` is null when that cannot be told or will not be; `words` then says why."""

    kind: str
    namespace: str
    name: str
    cluster: str
    key: str
    points: list[HistoryPoint]
    growth_per_day: str | None
    full_on: str | None
    words: str

    @property
    def title(self) -> str:
        where = f" in {self.cluster}" if self.cluster else ""
        return f"{self.namespace}/{self.name}{where}"


def history_of(series: Series) -> QuotaHistory:
    """The series as JSON has it, with its trend."""
    trend = trend_of(series.points)
    key = series.subject.key
    return QuotaHistory(
        **series.subject._asdict(),
        points=[
            HistoryPoint(
                _moment(point.at),
                *(str(quantity(key, nano)) for nano in (point.limit, point.used, point.most, point.provisional)),
            )
            for point in series.points
        ],
        growth_per_day=None if trend.per_day is None else str(quantity(key, trend.per_day)),
        full_on=None if trend.full_at is None else _moment(trend.full_at)[:10],
        words=trend.words,
    )


def render_csv(history: Sequence[Series]) -> Iterator[str]:
    """A row for each point; amounts are plain numbers in the row's unit."""
    yield _line(["at", "kind", "namespace", "name", "cluster", "key", "unit", "limit", "used", "most", "provisional"])
    for series in history:
        subject = series.subject
        for point in series.points:
            amounts = (plain_number(subject.key, nano) for nano in point[1:])
            yield _line([_moment(point.at), *map(harmless, subject), unit_of(subject.key), *amounts])


def render_text(history: Sequence[Series]) -> str:
    """A line for each key, the one that is full first at the top."""
    if not history:
        return "no history: a server with this ledger and quotas takes a sample every few minutes\n"
    rows = [(trend, series) for series in history for trend in [trend_of(series.points)]]
    rows.sort(key=lambda row: (row[0].full_at is None, row[0].full_at or 0, row[1].subject))
    table = [_HEADER, *(_row(series, trend) for trend, series in rows)]
    widths = [max(len(cells[column]) for cells in table) for column in range(len(_HEADER))]
    numbers = (3, 4, 5, 6)
    lines = (
        "  ".join(
            cell.rjust(widths[column]) if column in numbers else cell.ljust(widths[column])
            for column, cell in enumerate(cells)
        ).rstrip()
        for cells in table
    )
    return "\n".join(lines) + "\n"


def _row(series: Series, trend: Trend) -> tuple[str, ...]:
    subject, last = series.subject, series.points[-1]
    where = f" in {subject.cluster}" if subject.cluster else ""
    share = f"{last.used / last.limit:.0%}" if last.limit else "-"
    return (
        printable(f"{subject.namespace}/{subject.name}{where}"),
        printable(subject.key),
        sparkline(series.points),
        readable(subject.key, last.used),
        readable(subject.key, last.limit),
        share,
        "-" if trend.per_day is None else readable(subject.key, trend.per_day, signed=True),
        _moment(trend.full_at)[:10] if trend.full_at is not None and not trend.words else trend.words,
    )


def sparkline(points: Sequence[Point], width: int = _WIDTH) -> str:
    """What was used as a line of blocks: a full block is the limit, or the most that was used if that is more."""
    shown = [points[place * len(points) // width] for place in range(width)] if len(points) > width else list(points)
    top = max(max(point.limit, point.used) for point in points) or 1
    return "".join(_BLOCKS[min(len(_BLOCKS) - 1, point.used * len(_BLOCKS) // top)] for point in shown)


def _moment(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _line(cells: list[str]) -> str:
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()
