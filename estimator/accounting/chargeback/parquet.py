"""A bill as Parquet, with exact decimals. It needs pyarrow, which the extra `parquet` installs."""

from __future__ import annotations

from decimal import Context, Decimal
from typing import IO, Any, Final

from estimator.accounting.chargeback.bill import COLUMNS, DECIMALS, Bill
from estimator.accounting.chargeback.rendering import columns, used_column
from interpreters.core.errors import InputError
from interpreters.core.resources import PODS

_DIGITS: Final = 38
_EXACT: Final = Context(prec=200)


def write_parquet(bill: Bill, file: IO[bytes]) -> None:
    """Raises `InputError` without pyarrow, and for a number of more than 38 digits."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise InputError("Parquet needs pyarrow: pip install 'karmada-interp[parquet]', or use -o csv") from None
    names = columns(bill)
    texts = {"start": pa.timestamp("s", "UTC"), "end": pa.timestamp("s", "UTC")} | dict.fromkeys(
        COLUMNS[bill.by], pa.string()
    )
    used = {used_column(resource) for resource in (PODS, *bill.resources)}
    kinds = [
        texts[name] if name in texts else pa.decimal128(_DIGITS, 9 if name in used else DECIMALS) for name in names
    ]
    rows = [_values(bill, number) for number in range(len(bill.rows))]
    try:
        arrays = [pa.array(list(values), kind) for values, kind in zip(zip(*rows, strict=True), kinds, strict=True)]
    except pa.ArrowInvalid as error:
        raise InputError(f"Parquet holds numbers of {_DIGITS} digits: {error}; -o csv holds any") from None
    schema = pa.schema(list(zip(names, kinds, strict=True)))
    parquet.write_table(pa.table(arrays, schema=schema) if rows else schema.empty_table(), file)


def _values(bill: Bill, number: int) -> list[Any]:
    row = bill.rows[number]
    used = (Decimal(row.used.get(resource, 0)).scaleb(-9, _EXACT) for resource in (PODS, *bill.resources))
    costs = [row.costs.get(resource, 0) for resource in bill.resources]
    money = (Decimal(cost).scaleb(-DECIMALS, _EXACT) for cost in (*costs, row.cost))
    return [*bill.period, *row.names, *used, *money]
