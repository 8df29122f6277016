"""The same program in Lua and in Starlark gives the same answer, or fails in the same way."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from interpreters.core.engine import Limits, Outcome, Script
from interpreters.core.errors import ScriptError
from interpreters.sandbox.runner import SandboxRunner

PROGRAMS = [row for row in yaml.safe_load_all((Path(__file__).parent / "parity" / "programs.yaml").read_text()) if row]
THING: dict[str, Any] = {
    "apiVersion": "example.io/v1",
    "kind": "Thing",
    "metadata": {"name": "t", "namespace": "ns", "labels": {}, "annotations": {"a.b/c": "1"}},
    "spec": {
        "replicas": 3, "whole": 2, "ratio": 0.5, "big": 9007199254740993, "flag": True, "nullish": None,
        "text": 'héllo "quoted"\n', "list": [1, 2, 3], "emptyList": [], "emptyMap": {},
        "nested": [{"a": []}, {"a": {}}],
        "template": {
            "metadata": {"labels": {"x": "y"}},
            "spec": {
                "nodeSelector": {"disk": "ssd"},
                "containers": [{"name": "c", "resources": {"requests": {"cpu": "250m", "memory": "64Mi"}}}],
            },
        },
    },
}  # fmt: skip
WRAPPED = {"lua": "function F(o)\n{body}\nend", "starlark": "def F(o):\n{body}\n"}


@pytest.fixture(scope="module")
def runner() -> Iterator[SandboxRunner]:
    with SandboxRunner() as runner:
        yield runner


def text_of(program: dict[str, Any], language: str) -> str:
    body = program[language]
    if program.get("module") or "function F(" in body or "def F(" in body:
        return str(body)
    indented = "\n".join(f"    {line}" for line in body.rstrip("\n").split("\n"))
    return WRAPPED[language].format(body=indented)


def answer(runner: SandboxRunner, program: dict[str, Any], language: str) -> Outcome | ScriptError:
    script = Script(f"program.{language}", language, text_of(program, language))
    argument = json.dumps(program.get("argument", THING)).encode()
    limits = Limits(seconds=0.3 if "endless" in program["name"] else 10.0)
    try:
        return runner.call(script, "F", [argument], limits=limits)
    except ScriptError as error:
        return error


def values(outcome: Outcome) -> list[Any]:
    return [json.loads(value) for value in outcome.values]


def test_there_are_enough_programs_and_each_has_its_own_name() -> None:
    assert len(PROGRAMS) >= 60
    assert len({program["name"] for program in PROGRAMS}) == len(PROGRAMS)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: str(program["name"]))
def test_both_languages_answer_alike(runner: SandboxRunner, program: dict[str, Any]) -> None:
    lua, starlark = (answer(runner, program, language) for language in ("lua", "starlark"))
    if "wantError" in program:
        for error in (lua, starlark):
            assert isinstance(error, ScriptError), error
            assert error.kind == program["wantError"], error
            assert program.get("says", "") in str(error)
        return
    assert isinstance(lua, Outcome), lua
    assert isinstance(starlark, Outcome), starlark
    assert lua.printed == program.get("printed", lua.printed) == starlark.printed
    if program.get("nothing"):
        assert {*values(lua), *values(starlark)} <= {None}
        return
    assert values(lua) == values(starlark) == wanted(program, values(lua))


def wanted(program: dict[str, Any], otherwise: list[Any]) -> list[Any]:
    if "changed" in program:
        changed = copy.deepcopy(THING)
        changed["spec"].update(program["changed"])
        return [changed]
    if program.get("want_argument"):
        return [THING]
    return list(program.get("want", otherwise))
