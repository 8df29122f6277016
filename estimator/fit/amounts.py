"""Resource amounts as the Kubernetes scheduler counts them: whole numbers, cpu in thousandths, all else in units.

Both are rounded up, so a request of `0.1m` of cpu counts as one thousandth. Python integers carry them, so no amount is
too large. An amount below zero is no claim on anything and counts as zero, wherever it comes from.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NewType

from interpreters.core.errors import InputError, QuantityError
from interpreters.core.quantity import Format, Quantity
from interpreters.core.resources import CPU, counts_bytes

SchedulerAmounts = NewType("SchedulerAmounts", dict[str, int])
"""Resource name to scheduler units. Accounting's amounts are in other units and of another type."""


def scheduler_amount(resource: str, quantity: Quantity) -> int:
    """The whole number that stands for a quantity of the resource, never below zero."""
    amount = quantity.milli_value if resource == CPU else quantity.value
    return max(amount, 0)


def pod_amount(resource: str, quantity: Quantity) -> Quantity:
    """What one pod's request comes to: the API server stores no finer cpu, the scheduler counts no finer rest."""
    units = scheduler_amount(resource, quantity)
    return Quantity.milli(units, quantity.format) if resource == CPU else Quantity.of(units, quantity.format)


def scheduler_amounts(texts: Mapping[str, str | int | float] | None) -> SchedulerAmounts:
    """A resource list, as an object spells it, in scheduler units. Raises `InputError`."""
    amounts = {}
    for name, text in (texts or {}).items():
        try:
            amounts[name] = scheduler_amount(name, Quantity.parse(text))
        except QuantityError as error:
            raise InputError(f"{name}: {error}") from None
    return SchedulerAmounts(amounts)


def spelled(resource: str, amount: int) -> str:
    """The amount as people write it: `1500m`, `12Gi`, `3`."""
    if resource == CPU:
        return str(Quantity.milli(amount))
    return str(Quantity.of(amount, Format.BINARY if counts_bytes(resource) else Format.DECIMAL))
