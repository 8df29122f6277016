"""Short ways to call a Starlark text in the tests."""

from __future__ import annotations

import json
from typing import Any

from interpreters.core.engine import Limits, Outcome, Script
from interpreters.starlark.engine import StarlarkEngine

ENGINE = StarlarkEngine()


def script(text: str) -> Script:
    return Script("thing.star", "starlark", text)


def call(text: str, *arguments: Any, function: str = "F", engine: StarlarkEngine = ENGINE, **limits: Any) -> Outcome:
    """Call `F` of a script text with plain values."""
    encoded = [json.dumps(argument).encode() for argument in arguments]
    return engine.call(script(text), function, encoded, Limits(**limits))


def reply(expression: str, *arguments: Any) -> list[Any]:
    """What `def F(…): return <expression>` returns, as plain values."""
    names = ", ".join("abc"[: len(arguments)])
    return [json.loads(value) for value in call(f"def F({names}):\n    return {expression}\n", *arguments).values]
