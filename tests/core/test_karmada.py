"""Which release of Karmada is meant: by its spelling, or by the schema of its bindings."""

from __future__ import annotations

from typing import Any

import pytest

from interpreters.core.errors import InputError
from interpreters.core.karmada.releases import (
    KARMADA_1_18,
    KARMADA_1_19,
    NEWEST,
    RELEASES,
    Release,
    parse_release,
    release_of_crd,
)


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ("1.18", KARMADA_1_18),
        ("v1.18.1", KARMADA_1_18),
        ("1.19", KARMADA_1_19),
        (" v1.19.2 ", KARMADA_1_19),
        ("v1.19.0-rc.1", KARMADA_1_19),
        ("v1.19.0-12-gabcdef+dirty", KARMADA_1_19),
    ],
)
def test_a_release_is_read_as_people_write_it(text: str, release: Release) -> None:
    assert parse_release(text) == release


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("newest", '"newest" is no release of Karmada: expected one such as 1.19 or v1.19.0'),
        ("1", '"1" is no release of Karmada: expected one such as 1.19 or v1.19.0'),
        ("1.19.2.1", '"1.19.2.1" is no release of Karmada: expected one such as 1.19 or v1.19.0'),
        ("1.17", "Karmada 1.17 is not known here: there are 1.18 and 1.19; the nearest is 1.18"),
        ("v1.20.0", "Karmada 1.20 is not known here: there are 1.18 and 1.19; the nearest is 1.19"),
    ],
)
def test_anything_else_is_refused_with_what_is_known(text: str, problem: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_release(text)
    assert str(refused.value) == problem


def test_the_newest_is_the_last_and_they_are_in_order() -> None:
    assert list(RELEASES) == sorted(RELEASES)
    assert RELEASES[-1] is NEWEST


@pytest.mark.parametrize(
    ("fact", "before", "since"),
    [
        ("records_components", False, True),
        ("reschedules_from_first_group", False, True),
        ("schedules_by_priority", False, True),
        ("purge_modes", ("Directly", "Gracefully", "Never", "Immediately", "Graciously"),
         ("Directly", "Gracefully", "Never")),
    ],
)  # fmt: skip
def test_what_1_19_brought(fact: str, before: object, since: object) -> None:
    assert getattr(KARMADA_1_18, fact) == before
    assert getattr(KARMADA_1_19, fact) == since


def crd(*fields: str, version: str = "v1alpha2") -> dict[str, Any]:
    target = {"clusters": {"type": "array", "items": {"properties": {field: {} for field in fields}}}}
    schema = {"properties": {"spec": {"properties": target}}}
    return {"spec": {"versions": [{"name": version, "schema": {"openAPIV3Schema": schema}}]}}


@pytest.mark.parametrize(
    ("definition", "release"),
    [
        (crd("name", "replicas"), KARMADA_1_18),
        (crd("components", "name", "replicas"), KARMADA_1_19),
        (crd("components", "name", "replicas", "later"), KARMADA_1_19),
        (crd("name", "replicas", version="v1alpha1"), None),
        ({"spec": {"versions": [{"name": "v1alpha2"}]}}, None),
        ({}, None),
    ],
)
def test_a_live_karmada_is_told_by_its_schema_of_bindings(definition: dict[str, Any], release: Release | None) -> None:
    assert release_of_crd(definition) == release
