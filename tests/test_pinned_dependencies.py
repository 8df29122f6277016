"""What `make` installs is what pyproject.toml asks for: every dependency pinned once per Python, with hashes."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
DEPENDENCIES: list[str] = PROJECT["dependencies"]
DEVELOPMENT: list[str] = PROJECT["optional-dependencies"]["dev"]


def pinned(file: str) -> dict[str, list[Requirement]]:
    """The entries of a requirements file by name; several where Pythons differ."""
    entries: dict[str, list[Requirement]] = {}
    for entry in re.split(r"\n(?=[a-z0-9])", (ROOT / file).read_text(), flags=re.IGNORECASE):
        if not entry.startswith("#"):
            requirement = Requirement(entry.split("\\")[0].strip())
            assert "--hash=sha256:" in entry, f"{file}: {requirement.name} has no hash; run make lock"
            entries.setdefault(canonicalize_name(requirement.name), []).append(requirement)
    return entries


@pytest.mark.parametrize(
    ("file", "wanted"),
    [*(("requirements.txt", text) for text in DEPENDENCIES),
     *(("requirements-dev.txt", text) for text in DEPENDENCIES + DEVELOPMENT)],
)  # fmt: skip
def test_a_dependency_is_pinned_within_its_bounds(file: str, wanted: str) -> None:
    requirement = Requirement(wanted)
    pins = pinned(file).get(canonicalize_name(requirement.name), [])
    assert pins, f"{file}: {requirement.name} is missing; run make lock"
    for pin in pins:
        [version] = pin.specifier
        assert version.operator == "=="
        assert requirement.specifier.contains(version.version), f"{file} pins {pin}; run make lock"


def test_development_runs_with_what_is_released() -> None:
    development = pinned("requirements-dev.txt")
    for name, pins in pinned("requirements.txt").items():
        assert {str(pin.specifier) for pin in pins} <= {str(pin.specifier) for pin in development[name]}, name
