"""The published schemas are the ones the code checks with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from interpreters.cases import CASE_SCHEMA
from interpreters.core.operations import OPERATIONS
from interpreters.core.reply_schemas import REPLY_SCHEMAS

FOLDER = Path(__file__).parent.parent.parent / "docs" / "schemas"
PUBLISHED: dict[str, Any] = {f"reply-{op.name}.json": REPLY_SCHEMAS[op.answer] for op in OPERATIONS} | {
    "cases.json": {"type": "array", "items": CASE_SCHEMA}
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_schema_is_the_one_in_the_code(name: str) -> None:
    published = json.loads((FOLDER / name).read_text())
    assert {key: value for key, value in published.items() if key not in ("$schema", "title")} == PUBLISHED[name]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.name)
def test_every_published_schema_is_a_schema_with_a_title(path: Path) -> None:
    schema = json.loads(path.read_text())
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["title"]
