"""Usage of a binding agrees with the recorded answers of the real code."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from estimator.accounting.usage import binding_usage
from interpreters.core.quantity import Quantity

VECTORS = Path(os.environ.get("VECTORS_DIR") or Path(__file__).parent.parent / "vectors")
CASES: list[dict[str, Any]] = json.loads((VECTORS / "binding-usage.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["resourceBinding"]["metadata"]["name"])
def test_usage_of_a_binding_is_what_the_real_code_answered(case: dict[str, Any]) -> None:
    expected = {resource: Quantity.parse(text) for resource, text in case["usage"].items()}
    assert binding_usage(case["resourceBinding"]) == expected
