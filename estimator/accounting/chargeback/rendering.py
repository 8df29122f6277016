"""A bill for people, spreadsheets and programs. Machines get one number in one unit per column, exactly."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from fractions import Fraction
from io import StringIO

from estimator.accounting.chargeback.bill import COLUMNS, DECIMALS, Bill, Row
from estimator.accounting.readable import decimal_text, unit_of
from estimator.accounting.spreadsheets import harmless
from interpreters.core.quantity import NANO
from interpreters.core.requirements import Wire
from interpreters.core.resources import PODS, counts_bytes
from interpreters.core.texts import printable

_HOURS = {"cores": "core_seconds", "bytes": "byte_seconds", "count": "seconds"}


class BillRow(Wire, frozen=True, omit_defaults=False):
    """Whose it is, what was used by resource (units times seconds) and what that costs."""

    names: dict[str, str]
    used: dict[str, str]
    costs: dict[str, str]
    cost: str


class BillReport(Wire, frozen=True, omit_defaults=False):
    currency: str
    start: str
    end: str
    by: str
    rows: list[BillRow]
    total: str
    unpriced: dict[str, str]
    notes: list[str]
    basis: str
    """Which moments were looked at; what was changed or deleted between them is not in it."""


def bill_report(bill: Bill) -> BillReport:
    """The bill as it is printed as JSON. All numbers are decimal text."""
    rows = [
        BillRow(
            names=dict(zip(COLUMNS[bill.by], row.names, strict=True)),
            used=_texts(row.used),
            costs={resource: money(cost) for resource, cost in sorted(row.costs.items())},
            cost=money(row.cost),
        )
        for row in bill.rows
    ]
    start, end = (_moment(seconds) for seconds in bill.period)
    return BillReport(
        bill.currency, start, end, bill.by, rows, money(bill.total), _texts(bill.unpriced), list(bill.notes), bill.basis
    )


def columns(bill: Bill) -> list[str]:
    used = [used_column(resource) for resource in (PODS, *bill.resources)]
    costs = [f"{resource}_cost_{bill.currency}" for resource in bill.resources]
    return ["start", "end", *COLUMNS[bill.by], *used, *costs, f"cost_{bill.currency}"]


def used_column(resource: str) -> str:
    """`cpu_core_seconds`, `memory_byte_seconds`: the unit is part of the name."""
    return f"{resource}_{_HOURS[unit_of(resource)]}"


def render_csv(bill: Bill) -> Iterator[str]:
    """Every row, and nothing else: sums are for the reader to make."""
    yield _line(columns(bill))
    start, end = (_moment(seconds) for seconds in bill.period)
    for row in bill.rows:
        used = (decimal_text(row.used.get(resource, 0), 9) for resource in (PODS, *bill.resources))
        costs = (money(row.costs.get(resource, 0)) for resource in bill.resources)
        yield _line([start, end, *map(harmless, row.names), *used, *costs, money(row.cost)])


def render_text(bill: Bill) -> Iterator[str]:
    start, end = (_moment(seconds) for seconds in bill.period)
    hours = Fraction(bill.period.end - bill.period.start, 3600)
    yield f"{money(bill.total, 2)} {bill.currency} from {start} to {end} ({_rounded(hours)} hours)"
    if bill.basis:
        yield f"by {bill.basis}"
    yield ""
    shown = [name for place, name in enumerate(COLUMNS[bill.by]) if any(row.names[place] for row in bill.rows)]
    header = (*(name.replace("_", " ") for name in shown), *(_heading(name) for name in bill.resources), bill.currency)
    table = [header, *(_cells(bill, row, shown) for row in bill.rows)]
    widths = [max(len(cells[column]) for cells in table) for column in range(len(header))]
    for cells in table:
        aligned = (
            cell.ljust(width) if column < len(shown) else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        yield "  ".join(aligned).rstrip()


def money(amount: int, decimals: int = DECIMALS) -> str:
    """`amount` in the smallest part that is counted, with all decimals, or rounded to fewer."""
    rounded = round(Fraction(amount, 10 ** (DECIMALS - decimals)))
    whole, rest = divmod(abs(rounded), 10**decimals)
    return f"{'-' if rounded < 0 else ''}{whole}.{rest:0{decimals}d}"


def _cells(bill: Bill, row: Row, shown: Iterable[str]) -> tuple[str, ...]:
    names = dict(zip(COLUMNS[bill.by], row.names, strict=True))
    used = (_rounded(_hours(resource, row.used.get(resource, 0))) for resource in bill.resources)
    return (*(printable(names[name]) or "-" for name in shown), *used, money(row.cost, 2))


def _heading(resource: str) -> str:
    return (
        f"{resource} {'GiB' if counts_bytes(resource) else 'core' if unit_of(resource) == 'cores' else ''}".strip()
        + "-h"
    )


def _hours(resource: str, used: int) -> Fraction:
    return Fraction(used, NANO * 3600 * ((1 << 30) if counts_bytes(resource) else 1))


def _rounded(value: Fraction) -> str:
    """One decimal, which is enough for a terminal."""
    whole, tenth = divmod(round(value * 10), 10)
    return f"{whole:,}.{tenth}" if tenth else f"{whole:,}"


def _texts(amounts: dict[str, int]) -> dict[str, str]:
    return {resource: decimal_text(amounts[resource], 9) for resource in sorted(amounts)}


def _moment(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _line(cells: Iterable[str]) -> str:
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerow(list(cells))
    return text.getvalue()
