"""The published schemas are those of what is printed."""

from __future__ import annotations

import json

import pytest

from tests.estimator.accounting.schemas import FOLDER, PUBLISHED, schema


@pytest.mark.parametrize("name", list(PUBLISHED))
def test_a_published_schema_is_that_of_its_struct(name: str) -> None:
    assert json.loads((FOLDER / name).read_text()) == schema(*PUBLISHED[name]), "run make docs"
