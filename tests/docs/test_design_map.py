"""The map in docs/design.md names files and folders that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "design.md").read_text()
TABLES = [line for line in PAGE.splitlines() if line.startswith("|")]
NAMED = sorted({path for line in TABLES for path in re.findall(r"`((?:[a-z_]+/)+[a-z_.]*)`", line)})


def test_the_map_names_many_places() -> None:
    assert len(NAMED) > 25


@pytest.mark.parametrize("path", NAMED)
def test_a_place_on_the_map_exists(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize("package", ["estimator", "webhook", "interpreters"])
def test_every_room_is_on_the_map(package: str) -> None:
    rooms = [folder for folder in (ROOT / package).iterdir() if (folder / "__init__.py").exists()]
    missing = [folder.name for folder in rooms if f"{package}/{folder.name}" not in PAGE]
    assert not missing
