"""NanoAmounts as people read them (`437.5 GiB`, `1.5`), and as spreadsheets do: one plain number in one unit."""

from __future__ import annotations

from typing import Final

from estimator.quotas.amounts import quantity
from interpreters.core.quantity import NANO
from interpreters.core.resources import counts_bytes

_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def readable(resource: str, nano: int, *, signed: bool = False) -> str:
    """The amount for a table, rounded where it has more digits than one reads: bytes by powers of 1024."""
    sign = "-" if nano < 0 else "+" if signed and nano else ""
    return sign + (_bytes(-(-abs(nano) // NANO)) if counts_bytes(resource) else _count(abs(nano)))


def told_apart(resource: str, *amounts: int) -> list[str]:
    """Several amounts for one sentence. Where rounding would make different ones look equal they are written out."""
    rounded = [readable(resource, nano) for nano in amounts]
    if len(set(rounded)) == len(set(amounts)):
        return rounded
    unit = " B" if counts_bytes(resource) else ""
    return [plain_number(resource, nano) + unit for nano in amounts]


def unit_of(resource: str) -> str:
    """The unit of `plain_number`."""
    if counts_bytes(resource):
        return "bytes"
    return "cores" if resource.removeprefix("requests.").removeprefix("limits.") == "cpu" else "count"


def plain_number(resource: str, nano: int) -> str:
    """The exact amount in the resource's unit, without suffix or exponent: `0.25`, `23622320128`."""
    return decimal_text(quantity(resource, nano).nano, 9)


def decimal_text(value: int, decimals: int) -> str:
    """`value / 10**decimals`, exactly, without an exponent and without zeros at its end."""
    return ("-" if value < 0 else "") + _decimal(abs(value), decimals)


def _bytes(whole: int) -> str:
    step = min((whole.bit_length() - 1) // 10 if whole else 0, len(_UNITS) - 1)
    if _half_even(whole * 10, 1 << 10 * step) >= 10240 and step < len(_UNITS) - 1:
        step += 1  # 1023.99 KiB is read as 1 MiB
    decimals = 2 if whole < 10 << 10 * step else 1
    return f"{_decimal(_half_even(whole * 10**decimals, 1 << 10 * step), decimals, ',')} {_UNITS[step]}"


def _count(nano: int) -> str:
    """At most three decimals: Kubernetes counts processors in thousandths."""
    milli = _half_even(nano, 10**6)
    return "<0.001" if nano and not milli else _decimal(milli, 3, ",")


def _decimal(value: int, decimals: int, separator: str = "") -> str:
    whole, rest = divmod(value, 10**decimals)
    fraction = f"{rest:0{decimals}d}".rstrip("0")
    return f"{whole:{separator}}" + (f".{fraction}" if fraction else "")


def _half_even(value: int, divisor: int) -> int:
    whole, rest = divmod(value, divisor)
    return whole + (2 * rest > divisor or (2 * rest == divisor and whole % 2 == 1))
