"""Kubernetes resource quantities, exact: parsing, arithmetic and canonical text.

No library does this exactly (the Kubernetes client's `parse_quantity` returns a Decimal and forgets the format), so it
is written here: a whole number of nano-units and the format that decides the suffix when it is printed.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache, total_ordering
from typing import Final

from interpreters.core.errors import QuantityError

NANO: Final = 10**9
_LARGEST_BINARY: Final = (2**63 - 1) * NANO
_LARGEST_EXPONENT: Final = 400  # beyond it a text such as 1e999999999 would only burn memory
_LONGEST_TEXT: Final = 400


class Format(Enum):
    """How a quantity is spelled: `1Gi`, `1G` or `1e9`."""

    BINARY = "BinarySI"
    DECIMAL = "DecimalSI"
    EXPONENT = "DecimalExponent"


_BINARY_SHIFT: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_POWER: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_DECIMAL_SUFFIX: Final = {power: suffix for suffix, power in _DECIMAL_POWER.items()}
_BINARY_SUFFIX: Final = ["", *_BINARY_SHIFT]
_TEXT: Final = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?(?:([eE])([+-]?\d+)|([KMGTPE]i|[numkMGTPE])?)", re.ASCII)


@total_ordering
class Quantity:
    """An exact amount of a resource. Immutable and hashable; equality and order are by value, not by spelling."""

    __slots__ = ("format", "nano")

    nano: int
    format: Format

    def __init__(self, nano: int, format: Format = Format.DECIMAL) -> None:
        object.__setattr__(self, "nano", nano)
        object.__setattr__(self, "format", format)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Quantity cannot be changed (tried to set {name})")

    # -- making one --------------------------------------------------------------------------------------------------

    @staticmethod
    def parse(text: str | int | float) -> Quantity:
        """Read `2`, `500m`, `1.5Gi`, `1e3`; JSON numbers are read as their text. Raises `QuantityError`."""
        if isinstance(text, str):
            return _parse(text)
        if isinstance(text, bool) or not isinstance(text, int | float):
            raise QuantityError(repr(text), "a quantity is text or a number")
        if isinstance(text, int):
            return Quantity(text * NANO) if abs(text) < 10**_LONGEST_TEXT else _parse("1e9999")
        return _parse(repr(text))

    @staticmethod
    def of(units: int, format: Format = Format.DECIMAL) -> Quantity:
        """A whole number of units: `Quantity.of(2)` is two CPUs, or two bytes."""
        return Quantity(units * NANO, format)

    @staticmethod
    def milli(thousandths: int, format: Format = Format.DECIMAL) -> Quantity:
        return Quantity(thousandths * 10**6, format)

    # -- reading it --------------------------------------------------------------------------------------------------

    @property
    def value(self) -> int:
        """Whole units, rounded away from zero as Kubernetes does."""
        return _round_up(self.nano, NANO)

    @property
    def milli_value(self) -> int:
        """Thousandths, rounded away from zero."""
        return _round_up(self.nano, 10**6)

    def __float__(self) -> float:
        return self.nano / NANO

    def __bool__(self) -> bool:
        return self.nano != 0

    def __str__(self) -> str:
        return _canonical(self.nano, self.format)

    def __repr__(self) -> str:
        return f"Quantity({str(self)!r})"

    # -- arithmetic and order ----------------------------------------------------------------------------------------

    def __add__(self, other: Quantity) -> Quantity:
        return Quantity(self.nano + other.nano, self.format if self.nano else other.format)

    def __sub__(self, other: Quantity) -> Quantity:
        return Quantity(self.nano - other.nano, self.format if self.nano else other.format)

    def __neg__(self) -> Quantity:
        return Quantity(-self.nano, self.format)

    def __mul__(self, times: int) -> Quantity:
        return Quantity(self.nano * times, self.format)

    __rmul__ = __mul__

    def __floordiv__(self, other: Quantity) -> int:
        """How many whole `other` go into this."""
        return self.nano // other.nano

    def __eq__(self, other: object) -> bool:
        return self.nano == other.nano if isinstance(other, Quantity) else NotImplemented

    def __lt__(self, other: Quantity) -> bool:
        return self.nano < other.nano

    def __hash__(self) -> int:
        return hash(self.nano)


ZERO: Final = Quantity(0)


def _round_up(nano: int, unit: int) -> int:
    return -(-nano // unit) if nano >= 0 else -(nano // -unit) if nano % unit == 0 else -((-nano + unit - 1) // unit)


@lru_cache(maxsize=65536)
def _parse(text: str) -> Quantity:
    if not text:
        raise QuantityError(text, "it is empty")
    found = _TEXT.fullmatch(text) if len(text) <= _LONGEST_TEXT else None
    if found is None:
        raise QuantityError(text, _why_not(text))
    sign, whole, fraction, _, exponent, suffix = found.groups()
    fraction = fraction or ""
    digits = int((whole + fraction) or "0")
    if suffix in _BINARY_SHIFT:
        format = Format.BINARY
        numerator, power = digits << _BINARY_SHIFT[suffix], -len(fraction)
    else:
        format = Format.EXPONENT if exponent is not None else Format.DECIMAL
        numerator, power = (
            digits,
            (int(exponent) if exponent is not None else _DECIMAL_POWER[suffix or ""]) - len(fraction),
        )
    if digits and len(str(digits)) + power > _LARGEST_EXPONENT + 1:  # so that what is printed can be read again
        raise QuantityError(text, f"it is larger than 9e{_LARGEST_EXPONENT}")
    power += 9
    if power >= 0:
        nano = numerator * 10**power if numerator else 0
    elif -power > _LARGEST_EXPONENT + len(text):
        nano = 1 if numerator else 0  # anything positive, however small, is at least one nano-unit
    else:
        nano = -(-numerator // 10**-power)
    if format is Format.BINARY:
        nano = min(nano, _LARGEST_BINARY)
        if 0 < nano < NANO:
            format = Format.DECIMAL
    return Quantity(-nano if sign == "-" else nano, format)


def _why_not(text: str) -> str:
    if len(text) > _LONGEST_TEXT:
        return f"it is longer than {_LONGEST_TEXT} characters"
    if re.fullmatch(r"[+-]?[\d.]+K", text):
        return "the suffix K does not exist; write k for 1000 or Ki for 1024"
    if re.fullmatch(r"[+-]?[\d.]+\s*[kmgtKMGT]i?[bB]", text):
        return "bytes are implied; leave the B away (512Mi, 2G)"
    if text != text.strip() or " " in text:
        return "it contains blanks"
    return "expected a number with an optional suffix n u m k M G T P E, Ki Mi Gi Ti Pi Ei, or an exponent such as e3"


@lru_cache(maxsize=4096)
def _canonical(nano: int, format: Format) -> str:
    if nano == 0:
        return "0"
    if format is Format.BINARY and (abs(nano) < 1024 * NANO or nano % NANO):
        format = Format.DECIMAL  # `0.5Ki` would round; Kubernetes prints such amounts in decimal
    if format is Format.BINARY:
        units, step = nano // NANO, 0
        while units % 1024 == 0 and step < len(_BINARY_SUFFIX) - 1:
            units //= 1024
            step += 1
        return f"{units}{_BINARY_SUFFIX[step]}"
    power, largest = -9, 18 if format is Format.DECIMAL else 10**9
    while nano % 1000 == 0 and power < largest:
        nano //= 1000
        power += 3
    if format is Format.EXPONENT:
        return f"{nano}e{power}" if power else str(nano)
    return f"{nano}{_DECIMAL_SUFFIX[power]}"
