"""Which of two states of a binding is newer: resourceVersions and creation times decide before any clock."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from estimator.accounting.demand import Binding, Metadata, WorkloadKey
from estimator.accounting.ledger.charges import BindingMark, Charge
from estimator.accounting.ledger.freshness import is_stale, moment_of, version_of
from tests.estimator.accounting.samples import demand

CHARGE = Charge(WorkloadKey("", "Job", "team-a", "job"), confirmed=demand(("main", 1, {"cpu": "1"})), updated_at=1000.0)
MONDAY, TUESDAY = "2026-01-05T00:00:00Z", "2026-01-06T00:00:00Z"


def mark(version: int | None = None, uid: str = "u", created: str | None = None) -> BindingMark:
    return BindingMark(uid, moment_of(created), version)


def found(version: str = "", uid: str = "u", created: str = "") -> Binding:
    return Binding(metadata=Metadata("b", "team-a", uid, version, created))


STALE: list[tuple[str, BindingMark, Binding, float | None, bool]] = [  # known, found, when it was listed, is it older
    ("older version", mark(7), found("6"), 9999.0, True),
    ("older version, no time", mark(7), found("6"), None, True),
    ("newer version", mark(7), found("8"), 0.0, False),
    ("newer version, no time", mark(7), found("8"), None, False),
    ("same version, listed after the change", mark(7), found("7"), 1001.0, False),
    ("same version, listed before it", mark(7), found("7"), 999.0, True),
    ("same version, nobody knows when", mark(7), found("7"), None, True),
    ("versions beyond 64 bits", mark(2**70), found(str(2**70 + 1)), None, False),
    ("no version known, listed after", mark(), found("7"), 1001.0, False),
    ("no version known, listed before", mark(), found("7"), 999.0, True),
    ("no version known, nobody knows when", mark(), found("7"), None, False),
    ("a version that is no number", mark(7), found("abc"), None, False),
    ("successor", mark(9, "old", MONDAY), found("3", "new", TUESDAY), None, False),
    ("predecessor", mark(3, "new", TUESDAY), found("9", "old", MONDAY), 9999.0, True),
    ("another uid of the same second, listed after", mark(9, "a", MONDAY), found("3", "b", MONDAY), 1001.0, False),
    ("another uid, created when nobody knows, listed before", mark(9, "a"), found("3", "b"), 999.0, True),
]


@pytest.mark.parametrize(
    ("known", "listed", "as_of", "stale"), [row[1:] for row in STALE], ids=[row[0] for row in STALE]
)
def test_the_newer_of_two_states_counts(known: BindingMark, listed: Binding, as_of: float | None, stale: bool) -> None:
    assert is_stale(replace(CHARGE, binding=known), listed, as_of) is stale


def test_nothing_is_older_than_a_charge_that_is_none() -> None:
    assert not is_stale(Charge(CHARGE.workload, binding=mark(7), updated_at=1000.0), found("6"), 0.0)


MOMENTS: list[tuple[Any, float | None]] = [
    ("1970-01-01T00:00:10Z", 10.0), ("1970-01-01T01:00:10+01:00", 10.0), ("", None), (None, None), ("soon", None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "moment"), MOMENTS)
def test_timestamps_are_read_or_left(text: Any, moment: float | None) -> None:
    assert moment_of(text) == moment


@pytest.mark.parametrize(("text", "version"), [("12", 12), ("", None), ("-1", None), ("٣", None), ("1.5", None)])
def test_versions_are_numbers_or_unknown(text: str, version: int | None) -> None:
    assert version_of(text) == version
