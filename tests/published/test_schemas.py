"""The published schemas are the ones in the code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.published.schemas import FOLDER, PUBLISHED


def test_every_published_schema_is_made_from_the_code() -> None:
    assert sorted(path.name for path in FOLDER.iterdir()) == sorted(PUBLISHED)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.name)
def test_every_published_schema_is_a_schema_with_a_title(path: Path) -> None:
    schema = json.loads(path.read_text())
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["title"]
