"""The bundled scripts as tests want them: assembled, with their cases, and answering at once in this process."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import msgspec

from interpreters.cases import Case, read_cases
from interpreters.core.engine import Limits, Script
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import Argument, Operation
from interpreters.lua.engine import LuaEngine
from interpreters.snippets import assemble
from tests.published.kinds import SCRIPTS

LIMITS = Limits(seconds=10.0)  # a busy machine is not what these tests are about


def snippet(name: str) -> str:
    return (SCRIPTS.parent / name).read_text()


@cache
def scripts() -> dict[GroupVersionKind, Script]:
    """Every bundled script, self-contained."""
    return {
        GroupVersionKind.from_folder(str(path.parent.relative_to(SCRIPTS))): Script(
            str(path.relative_to(SCRIPTS)), "lua", assemble(path.read_text(), snippet)
        )
        for path in sorted(SCRIPTS.glob("*/*/*/interpreter.lua"))
    }


@cache
def cases(kind: GroupVersionKind) -> list[Case]:
    return read_cases(SCRIPTS / kind.folder / "cases.yaml")


@cache
def engine() -> LuaEngine:
    return LuaEngine()


@cache
def operations(kind: GroupVersionKind) -> frozenset[str]:
    return engine().functions(scripts()[kind], LIMITS)


def arguments(operation: Operation, obj: Any, case: Case) -> list[bytes]:
    """What a function is given for a case, with this object in place of the case's own."""
    values = {
        Argument.OBJECT: obj,
        Argument.REPLICAS: case.replicas,
        Argument.OBSERVED: case.observed,
        Argument.STATUS: case.status,
    }
    return [msgspec.json.encode(values[argument]) for argument in operation.arguments]


def call(kind: GroupVersionKind, function: str, texts: Sequence[bytes]) -> list[Any]:
    """The values that a function returns."""
    outcome = engine().call(scripts()[kind], function, texts, LIMITS)
    return [msgspec.json.decode(value) for value in outcome.values]


def ask(kind: GroupVersionKind, function: str, obj: Any) -> Any:
    """The first value that a function returns for an object alone."""
    return call(kind, function, [msgspec.json.encode(obj)])[0]
