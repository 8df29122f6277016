"""Runs small scripts in one engine of its own, outside any sandbox."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interpreters.core.engine import Limits, Outcome, Script
from interpreters.core.errors import ScriptError
from interpreters.lua.engine import LuaEngine

ENGINE = LuaEngine()
LIMITS = Limits(seconds=0.3)


def outcome(text: str, *arguments: bytes, function: str = "f", limits: Limits = LIMITS) -> Outcome:
    return ENGINE.call(Script("s.lua", "lua", text), function, arguments, limits)


def raw(text: str, *arguments: Any) -> str:
    """The JSON text of the first value that `f` returns; arguments are JSON values, or bytes of JSON."""
    documents = (one if isinstance(one, bytes) else json.dumps(one).encode() for one in arguments)
    return outcome(text, *documents).values[0].decode()


def result(text: str, *arguments: Any) -> Any:
    return json.loads(raw(text, *arguments))


def value(expression: str, *arguments: Any) -> Any:
    """What an expression of `o`, the first argument, gives."""
    return result(f"local kube = require('kube') function f(o, p) return {expression} end", *arguments)


def failure(text: str, *arguments: Any, limits: Limits = LIMITS, function: str = "f") -> ScriptError:
    documents = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in arguments]
    with pytest.raises(ScriptError) as caught:
        outcome(text, *documents, function=function, limits=limits)
    return caught.value
