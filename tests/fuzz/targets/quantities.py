"""Amounts: refused in our words, or the exact product of number and suffix that decimal arithmetic finds."""

import re
from decimal import ROUND_UP, Context, Decimal

from interpreters.core.errors import QuantityError
from interpreters.core.quantity import Quantity

_PARTS = re.compile(r"([+-]?)([0-9.]*)(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]?|[eE][+-]?[0-9]+)")
_EXACT = Context(prec=5000, Emax=10**6, Emin=-(10**6))


def check(data: bytes) -> None:
    try:
        text = data.decode()
        quantity = Quantity.parse(text)
    except UnicodeDecodeError:
        return
    except QuantityError as error:
        assert str(error)
        return
    found = _PARTS.fullmatch(text)
    assert found, text
    sign, number, suffix = found.groups()
    amount = Decimal(number if number.strip(".") else 0)  # Kubernetes reads a lone point as nothing
    nano = 0
    if amount:  # nothing times anything is nothing, however large the exponent
        nano = int(_EXACT.multiply(amount, _factor(suffix) * 10**9).to_integral_value(ROUND_UP, _EXACT))
    if suffix.endswith("i"):
        nano = min(nano, (2**63 - 1) * 10**9)  # Kubernetes caps binary amounts
    assert quantity.nano == (-nano if sign == "-" else nano), text
    assert Quantity.parse(str(quantity)) == quantity, text


def _factor(suffix: str) -> Decimal:
    if suffix[:1] in ("e", "E") and suffix[1:] not in ("", "i"):
        return Decimal(f"1e{max(-1000, int(suffix[1:]))}")  # below that it is the smallest amount there is
    if suffix.endswith("i"):
        return Decimal(1024) ** ("KMGTPE".index(suffix[0]) + 1)
    return Decimal(10) ** (3 * ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"].index(suffix) - 9)
