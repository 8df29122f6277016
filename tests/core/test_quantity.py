"""Quantities are exact, ordered by value, and printed so that they can be read back."""

from __future__ import annotations

from decimal import ROUND_UP, Context, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interpreters.core.errors import QuantityError
from interpreters.core.quantity import Format, Quantity

SUFFIXES = {
    **{
        suffix: Decimal(10) ** (3 * i - 9) for i, suffix in enumerate(["n", "u", "m", "", "k", "M", "G", "T", "P", "E"])
    },
    **{suffix: Decimal(1024) ** (i + 1) for i, suffix in enumerate(["Ki", "Mi", "Gi", "Ti", "Pi"])},
    **{f"e{power}": Decimal(10) ** power for power in range(-12, 13)},
}
numbers = st.integers(0, 10**9).map(str) | st.decimals(0, 10**6, places=4).map(str)
texts = st.builds(
    lambda sign, number, suffix: (sign, number, suffix),
    st.sampled_from(["", "-", "+"]),
    numbers,
    st.sampled_from(sorted(SUFFIXES)),
)


def naive_nano(sign: str, number: str, suffix: str) -> int:
    exact = Context(prec=100).multiply(Decimal(number), SUFFIXES[suffix]) * 10**9
    nano = int(exact.to_integral_value(ROUND_UP))
    if suffix.endswith("i"):
        nano = min(nano, (2**63 - 1) * 10**9)  # Kubernetes caps binary amounts
    return -nano if sign == "-" else nano


@given(texts)
def test_a_text_means_number_times_suffix_rounded_up_to_nano(text: tuple[str, str, str]) -> None:
    assert Quantity.parse("".join(text)).nano == naive_nano(*text)


@given(texts, texts, st.integers(-1000, 1000))
def test_arithmetic_is_exact(left: tuple[str, str, str], right: tuple[str, str, str], times: int) -> None:
    a, b = Quantity.parse("".join(left)), Quantity.parse("".join(right))
    assert (a + b).nano == a.nano + b.nano
    assert (a - b).nano == a.nano - b.nano
    assert (a * times).nano == (times * a).nano == a.nano * times
    assert (a < b) == (a.nano < b.nano)
    assert (a == b) == (hash(a) == hash(b) and a.nano == b.nano)


@given(st.integers(-(10**24), 10**24), st.sampled_from(Format))
def test_canonical_text_reads_back_as_the_same_amount(nano: int, format: Format) -> None:
    quantity = Quantity(nano, format)
    assert Quantity.parse(str(quantity)) == quantity


BAD = [
    ("", "it is empty"),
    ("1.5K", "write k for 1000 or Ki for 1024"),
    ("512MB", "leave the B away"),
    ("1 Gi", "contains blanks"),
    ("abc", "expected a number"),
    ("1e999999999", "larger than 9e400"),
    ("8400e400", "larger than 9e400"),
    ("9" * 500, "longer than"),
    ("1.2.3", "expected a number"),
    ("\u0661", "expected a number"),
]


@pytest.mark.parametrize(("text", "why"), BAD)
def test_bad_text_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(QuantityError, match=why):
        Quantity.parse(text)


def test_numbers_are_read_as_their_text() -> None:
    assert Quantity.parse(2) == Quantity.parse("2")
    assert Quantity.parse(0.1) == Quantity.parse("100m")
    with pytest.raises(QuantityError, match="text or a number"):
        Quantity.parse(True)


def test_a_quantity_cannot_be_changed() -> None:
    with pytest.raises(AttributeError, match="cannot be changed"):
        Quantity.of(1).nano = 2
