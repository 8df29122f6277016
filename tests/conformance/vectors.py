"""Where the recorded answers of the real Go code are, and how to read them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(os.environ.get("VECTORS_DIR") or Path(__file__).parent.parent / "vectors")


def cases(name: str) -> list[Any]:
    """The cases of one file as pytest parameters, named by their position. A missing file is a failure, not a skip."""
    recorded = json.loads((FOLDER / f"{name}.json").read_text())
    return [pytest.param(case, id=f"{name}-{i}") for i, case in enumerate(recorded)]
