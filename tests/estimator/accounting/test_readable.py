"""NanoAmounts are rounded for readers, exact for spreadsheets, and never look equal when they are not."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from estimator.accounting.readable import plain_number, readable, told_apart, unit_of
from estimator.quotas.amounts import nano_of, quantity
from interpreters.core.quantity import NANO

READ = [
    ("memory", "469778485380", "437.5 GiB"), ("memory", "7812500Ki", "7.45 GiB"), ("memory", "437.5Gi", "437.5 GiB"),
    ("memory", "0", "0 B"), ("memory", "1023", "1,023 B"), ("memory", "1Ki", "1 KiB"), ("memory", "1048575", "1 MiB"),
    ("memory", "1001Mi", "1,001 MiB"), ("requests.memory", "2G", "1.86 GiB"), ("memory", "2048m", "3 B"),
    ("hugepages-2Mi", "4Mi", "4 MiB"), ("ephemeral-storage", "5000Ei", "5,000 EiB"), ("cpu", "1500m", "1.5"),
    ("cpu", "250m", "0.25"), ("cpu", "1234567", "1,234,567"), ("cpu", "1u", "<0.001"), ("cpu", "0", "0"),
    ("nvidia.com/gpu", "8", "8"), ("pods", "12k", "12,000"),
]  # fmt: skip


@pytest.mark.parametrize(("resource", "text", "shown"), READ)
def test_an_amount_is_written_as_people_read_it(resource: str, text: str, shown: str) -> None:
    # more than 8 EiB cannot be said by one quantity, but may be their sum
    nano = 5000 * 2**60 * NANO if text == "5000Ei" else nano_of(text)
    assert readable(resource, nano) == shown
    if nano:
        assert readable(resource, -nano) == f"-{shown}"
        assert readable(resource, nano, signed=True) == f"+{shown}"


@pytest.mark.parametrize(
    ("resource", "unit"),
    [("cpu", "cores"), ("requests.cpu", "cores"), ("limits.memory", "bytes"), ("pods", "count"), ("x/gpu", "count")],
)
def test_each_resource_has_one_unit(resource: str, unit: str) -> None:
    assert unit_of(resource) == unit


@given(st.sampled_from(["cpu", "memory", "x/gpu"]), st.integers(-(10**40), 10**40))
def test_a_plain_number_is_the_exact_amount(resource: str, nano: int) -> None:
    text = plain_number(resource, nano)
    assert Fraction(text) * NANO == quantity(resource, nano).nano
    assert "e" not in text.lower()


@given(st.integers(0, 10**40))
def test_rounded_bytes_are_near_the_exact_ones(count: int) -> None:
    number, unit = readable("memory", count * NANO).split(" ")
    size = 1024 ** ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB").index(unit)
    assert abs(Fraction(number.replace(",", "")) * size - count) <= Fraction(size, 20)


@given(st.sampled_from(["cpu", "memory"]), st.integers(0, 10**12), st.integers(0, 10**12))
def test_different_amounts_of_one_sentence_look_different(resource: str, one: int, other: int) -> None:
    shown = told_apart(resource, one * NANO, other * NANO)
    assert (shown[0] == shown[1]) == (one == other)
