"""Resource amounts as plain whole numbers of nano-units, for sums over very many bindings.

`Quantity` is the noun for one amount; a sum over a million bindings would build millions of them, so accounting adds
integers and makes a `Quantity` again only where a person reads the result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NewType

from interpreters.core.quantity import NANO, Format, Quantity
from interpreters.core.resources import counts_bytes

NanoAmounts = NewType("NanoAmounts", dict[str, int])
"""Resource name to nano-units. The scheduler's amounts are in other units and of another type."""


def no_amounts() -> NanoAmounts:
    return NanoAmounts({})


@lru_cache(maxsize=65536)
def nano_of(text: str | int | float) -> int:
    """One amount in nano-units; very many bindings spell very few amounts. Raises `QuantityError`."""
    return Quantity.parse(text).nano


def parse_amounts(texts: Mapping[str, str | int | float]) -> NanoAmounts:
    """`{"cpu": "500m"}` as nano-units. Raises `QuantityError`."""
    return NanoAmounts({resource: nano_of(text) for resource, text in texts.items()})


def add(total: NanoAmounts, more: Mapping[str, int], times: int = 1) -> None:
    """Add `more`, `times` over, into `total`."""
    for resource, nano in more.items():
        total[resource] = total.get(resource, 0) + nano * times


def total_of(parts: Iterable[Mapping[str, int]]) -> NanoAmounts:
    total = no_amounts()
    for part in parts:
        add(total, part)
    return total


def larger(one: Mapping[str, int], other: Mapping[str, int]) -> NanoAmounts:
    """Per resource, the larger of two."""
    return NanoAmounts({resource: max(one.get(resource, 0), other.get(resource, 0)) for resource in {**one, **other}})


def without_zeros(amounts: Mapping[str, int]) -> NanoAmounts:
    return NanoAmounts({resource: nano for resource, nano in amounts.items() if nano})


def quantity(resource: str, nano: int) -> Quantity:
    """The amount as Kubernetes would spell it: whole bytes with binary suffixes, all else with decimal ones.

    A part of a byte, which only a slip such as `memory: 2048m` asks for, counts as one, as Kubernetes rounds."""
    if not counts_bytes(resource):
        return Quantity(nano, Format.DECIMAL)
    whole = -(-abs(nano) // NANO) * NANO
    return Quantity(whole if nano >= 0 else -whole, Format.BINARY)


def texts(amounts: Mapping[str, int]) -> dict[str, str]:
    """NanoAmounts as canonical text, sorted by resource so that the same amounts give the same bytes."""
    return {resource: str(quantity(resource, amounts[resource])) for resource in sorted(amounts)}


def has_fraction_of_a_byte(resource: str, text: str | int | float) -> bool:
    """`memory: 2048m` is 2.048 bytes: valid, and never meant."""
    return counts_bytes(resource) and nano_of(text) % NANO != 0
