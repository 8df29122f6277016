"""The price file: what an hour of each resource costs, where and for whom, and how cost centres are found.

Prices are exact fractions; what is rounded is one row's cost, once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from estimator.accounting.chargeback.cost_centres import Centres
from estimator.quotas.amounts import nano_of
from interpreters.core.decoder_errors import NO_SUCH_FIELD, misfit
from interpreters.core.documents import load_values
from interpreters.core.errors import DocumentError, QuantityError
from interpreters.core.quantity import NANO
from interpreters.core.resources import counts_bytes
from interpreters.files import name_of, read_bytes

_HOUR: Final = 3600
_CURRENCY: Final = re.compile(r"[A-Z]{3}")


class _Entry(Struct, forbid_unknown_fields=True, rename="camel"):
    resource: str
    price: str | int | float
    per: str | int | None = None
    cluster: str = ""
    priority_class: str | None = None


class _File(Struct, forbid_unknown_fields=True, rename="camel"):
    currency: str
    prices: list[_Entry]
    cost_centres: Centres = msgspec.field(default_factory=Centres)


@dataclass(frozen=True, slots=True)
class Price:
    """What one nano-unit of a resource costs for a second; empty `cluster` and no `priority_class` mean any."""

    resource: str
    each: Fraction
    cluster: str = ""
    priority_class: str | None = None

    def fits(self, cluster: str, priority_class: str) -> bool:
        return self.cluster in ("", cluster) and self.priority_class in (None, priority_class)


@dataclass(frozen=True, slots=True)
class PriceList:
    """Of several prices that fit, the one that says most counts: cluster and class, then cluster, then class."""

    currency: str
    prices: Sequence[Price]
    centres: Centres

    @property
    def resources(self) -> list[str]:
        return list(dict.fromkeys(price.resource for price in self.prices))

    def price(self, resource: str, cluster: str, priority_class: str) -> Price | None:
        fitting = [p for p in self.prices if p.resource == resource and p.fits(cluster, priority_class)]
        return max(fitting, key=lambda p: (bool(p.cluster), p.priority_class is not None), default=None)


def read_prices(path: str | Path) -> PriceList:
    """Read a price file. Raises `DocumentError` that names the file, the field, what is expected and what it is."""
    where = name_of(path)
    values = load_values(read_bytes(path), where)
    if len(values) != 1:
        raise DocumentError(where, f"expected one document with currency and prices, got {len(values)}")
    try:
        file = msgspec.convert(values[0], _File)
    except msgspec.ValidationError as error:
        raise DocumentError(where, _complaint(error)) from None
    if not _CURRENCY.fullmatch(file.currency):
        raise DocumentError(where, f'currency: expected three capital letters such as EUR, got "{file.currency:.40}"')
    if not file.prices:
        raise DocumentError(where, "prices: expected at least one price, got an empty list")
    file.cost_centres.check(where)
    prices = [_price(f"{where}: prices[{number}]", entry) for number, entry in enumerate(file.prices)]
    _refuse_twins(where, prices)
    return PriceList(file.currency, prices, file.cost_centres)


def _price(where: str, entry: _Entry) -> Price:
    if not entry.resource:
        raise DocumentError(f"{where}.resource", 'expected the name of a resource such as cpu, got ""')
    return Price(
        entry.resource, _amount(where, entry) / (_per(where, entry) * _HOUR), entry.cluster, entry.priority_class
    )


def _amount(where: str, entry: _Entry) -> Fraction:
    try:
        price = Decimal(str(entry.price))
    except InvalidOperation:
        price = Decimal("NaN")
    if not price.is_finite() or price < 0 or price.adjusted() > 18 or price.as_tuple().exponent < -18:  # type: ignore[operator]
        expected = 'a price of an hour from 0 up, such as "0.031"'
        raise DocumentError(f"{where}.price", f'expected {expected}, got "{entry.price!s:.40}"')
    return Fraction(price)


def _per(where: str, entry: _Entry) -> int:
    """Nano-units that the price is for: one, or a gibibyte of what is counted in bytes."""
    if entry.per is None:
        return (1 << 30) * NANO if counts_bytes(entry.resource) else NANO
    try:
        nano = nano_of(entry.per)
    except QuantityError as error:
        raise DocumentError(f"{where}.per", str(error)) from None
    if nano <= 0:
        raise DocumentError(f"{where}.per", f'expected an amount above 0 such as 1 or 1Gi, got "{entry.per}"')
    return nano


def _refuse_twins(where: str, prices: Sequence[Price]) -> None:
    seen: dict[tuple[str, str, str | None], int] = {}
    for number, price in enumerate(prices):
        key = (price.resource, price.cluster, price.priority_class)
        if key in seen:
            about = f"{where}: prices[{number}]"
            raise DocumentError(about, f"expected one price for each case, got a second one beside prices[{seen[key]}]")
        seen[key] = number


def _complaint(error: msgspec.ValidationError) -> str:
    said = misfit(error, by_hand=True)
    if not said.endswith(NO_SUCH_FIELD):
        return said
    return f"{said}; a price file has {', '.join(_known(said))} there"


def _known(path: str) -> tuple[str, ...]:
    kind: type[Struct] = _Entry if path.startswith("prices[") else Centres if path.startswith("costCentres") else _File
    return kind.__struct_encode_fields__
