"""Reports of the authors' verbs against their published schemas."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema

SCHEMAS = Path(__file__).parent.parent.parent / "docs" / "schemas"


def validate(text: str, schema: str) -> None:
    jsonschema.validate(json.loads(text), json.loads((SCHEMAS / schema).read_text()))
