"""Bundled Starlark scripts against their Lua originals: the same table, and the same answer to other objects."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interpreters.cases import Case, Verdict, case_files, case_request, read_cases, reply_fields, run_case
from interpreters.catalog import Catalog
from interpreters.comparison import compare
from interpreters.core.engine import Limits
from interpreters.core.errors import InterpError
from interpreters.core.kinds import GroupVersionKind
from interpreters.interpretation import interpret, load_functions
from interpreters.sandbox.runner import SandboxRunner
from interpreters.scan import Candidate, scan_bundled
from interpreters.starlark.lint import findings

LANGUAGES = ("lua", "starlark")
SCRIPTS = {
    language: {found.kind: found for found in scan_bundled(language) if isinstance(found, Candidate) and found.kind}
    for language in LANGUAGES
}
KINDS = sorted(SCRIPTS["starlark"], key=str)
EXPECTED_KINDS = ("FlinkDeployment", "Job", "PyTorchJob", "RayCluster", "RayJob", "SparkApplication")


def cases_of(kind: GroupVersionKind) -> list[Case]:
    folder = SCRIPTS["lua"][kind].folder
    assert folder is not None
    return [case for file in case_files(folder) for case in read_cases(file)]


CASES = [(kind, case) for kind in KINDS for case in cases_of(kind)]


@pytest.fixture(scope="module")
def runner() -> Iterator[SandboxRunner]:
    with SandboxRunner(limits=Limits(seconds=10.0)) as runner:
        yield runner


@pytest.fixture(scope="module")
def catalogs(runner: SandboxRunner) -> dict[tuple[str, GroupVersionKind], Catalog]:
    return {
        (language, kind): Catalog.build([SCRIPTS[language][kind]], load_functions(runner, [SCRIPTS[language][kind]]))
        for language in LANGUAGES
        for kind in KINDS
    }


def test_the_promised_kinds_have_twins() -> None:
    assert sorted(kind.kind for kind in KINDS) == sorted(EXPECTED_KINDS)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_twin_offers_the_operations_of_its_original(runner: SandboxRunner, kind: GroupVersionKind) -> None:
    offered = [
        {name for name in runner.functions(SCRIPTS[language][kind].script) if name[0].isupper()}
        for language in LANGUAGES
    ]
    assert offered[0] == offered[1]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_twin_has_no_findings(kind: GroupVersionKind) -> None:
    text = SCRIPTS["starlark"][kind].script.text
    assert list(findings(text)) == []


@pytest.mark.parametrize(("kind", "case"), CASES, ids=[f"{kind.kind}: {case.name}" for kind, case in CASES])
def test_every_case_of_the_original_holds_for_the_twin(
    runner: SandboxRunner,
    catalogs: dict[tuple[str, GroupVersionKind], Catalog],
    kind: GroupVersionKind,
    case: Case,
) -> None:
    result = run_case(runner, catalogs["starlark", kind], case)
    assert result.verdict is Verdict.PASSED, "\n".join(result.reasons)


def test_two_workers_give_the_same_bytes() -> None:
    requests = [(kind, case_request(case), case.operation) for kind, case in CASES if case.want is not None]
    answers = []
    for _ in range(2):
        with SandboxRunner(limits=Limits(seconds=10.0)) as runner:
            answers.append(
                [
                    runner.call(SCRIPTS["starlark"][kind].script, operation.function, request.arguments()).values
                    for kind, request, operation in requests
                ]
            )
    assert answers[0] == answers[1]


def paths_of(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a tree, but for what says which kind it is, free-form settings, and affinities, whose fields the
    API server requires."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        if key not in ("apiVersion", "kind", "flinkConfiguration", "affinity"):
            yield (*path, key)
            yield from paths_of(item, (*path, key))


@st.composite
def thinned_cases(draw: st.DrawFn) -> tuple[GroupVersionKind, Case]:
    """A case whose object lacks one to three of its fields."""
    kind, case = draw(st.sampled_from(CASES))
    thinned = copy.deepcopy(case.object)
    for _ in range(draw(st.integers(1, 3))):
        places = list(paths_of(thinned))
        if places:
            *way, last = draw(st.sampled_from(places))
            inner: Any = thinned
            for key in way:
                inner = inner[key]
            del inner[last]
    return kind, dataclasses.replace(case, object=thinned)


@settings(max_examples=150)
@given(thinned=thinned_cases())
def test_both_languages_agree_on_objects_with_missing_fields(
    runner: SandboxRunner,
    catalogs: dict[tuple[str, GroupVersionKind], Catalog],
    thinned: tuple[GroupVersionKind, Case],
) -> None:
    kind, case = thinned
    answers: list[dict[str, Any] | InterpError] = []
    for language in LANGUAGES:
        try:
            answer = interpret(runner, catalogs[language, kind], case_request(case))
            answers.append(reply_fields(answer.reply, case.operation))
        except InterpError as error:
            answers.append(error)
    lua, starlark = answers
    if isinstance(lua, InterpError) or isinstance(starlark, InterpError):
        assert isinstance(lua, InterpError), starlark
        assert isinstance(starlark, InterpError), lua
    else:
        assert compare(lua, starlark) == []
