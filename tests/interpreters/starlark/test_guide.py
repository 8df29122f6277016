"""The examples of the Starlark guide do what the guide says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from interpreters.cases import Verdict, read_cases, run_case
from interpreters.catalog import Catalog
from interpreters.core.engine import Limits
from interpreters.interpretation import load_functions
from interpreters.sandbox.runner import SandboxRunner
from interpreters.scan import Origin, scan_place
from interpreters.starlark.lint import findings
from tests.interpreters.starlark.calling import ENGINE, call, script

GUIDE = (Path(__file__).parents[3] / "docs" / "starlark.md").read_text()
BLOCKS = re.findall(r"^```starlark\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
SCRIPTS = [block for block in BLOCKS if not block.startswith(">>> ")]
EXPRESSIONS = [
    pair
    for block in BLOCKS
    if block.startswith(">>> ")
    for pair in re.findall(r"^>>> (.*)\n(.*)$", block, re.MULTILINE)
]


@pytest.mark.parametrize(("expression", "shown"), EXPRESSIONS, ids=[expression for expression, _ in EXPRESSIONS])
def test_an_expression_has_the_value_that_the_guide_shows(expression: str, shown: str) -> None:
    assert call(f"def F():\n    print(repr(({expression})))\n").printed == shown + "\n"


@pytest.mark.parametrize("text", SCRIPTS)
def test_a_script_of_the_guide_loads_without_findings(text: str) -> None:
    assert ENGINE.functions(script(text), Limits())
    assert list(findings(text)) == []


def test_the_first_script_passes_the_cases_beside_it(tmp_path: Path) -> None:
    folder = tmp_path / "example.io" / "v1" / "TrainingJob"
    folder.mkdir(parents=True)
    (folder / "interpreter.star").write_text(SCRIPTS[0])
    (cases,) = re.findall(r"^```yaml\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
    (folder / "cases.yaml").write_text(cases)
    found = scan_place(tmp_path, Origin.FOLDER)
    with SandboxRunner() as runner:
        catalog = Catalog.build(found, load_functions(runner, found))
        results = [run_case(runner, catalog, case) for case in read_cases(folder / "cases.yaml")]
    assert [result.verdict for result in results] == [Verdict.PASSED, Verdict.PASSED]


def test_the_walk_without_recursion_finds_what_it_should() -> None:
    thing = {"a": [1, {"b": 2.5}, "x"], "c": None}
    assert call(SCRIPTS[1], thing, function="GetReplicas").values == (b"2", b"null")


def test_there_is_one_table_of_differences_from_lua() -> None:
    assert GUIDE.count("| Lua | Starlark |") == 1
