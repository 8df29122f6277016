"""The walk of one request as docs/design.md draws it, against a real request over HTTPS."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.walk import MOST_FILES, MOST_FUNCTIONS, Step, walk

DESIGN = Path(__file__).parents[2] / "docs/design.md"


@pytest.fixture(scope="module")
def steps() -> list[Step]:
    return walk()


def drawn_files() -> list[str]:
    section = DESIGN.read_text().partition("## The walk of one request\n")[2].partition("\n## ")[0]
    drawing = section.split("```")[1]
    return re.findall(r"│ ([a-z_]+/[a-z_/]+\.py) ", drawing)


def test_the_files_drawn_are_those_that_a_request_enters(steps: list[Step]) -> None:
    drawn = drawn_files()
    assert len(drawn) == len(set(drawn))
    assert sorted(drawn) == sorted({file for file, _ in steps})


def test_both_processes_are_walked(steps: list[Step]) -> None:
    functions = {function for _, function in steps}
    assert functions >= {"Listener._dispatch", "Dispatch.run", "Worker.answer", "LuaEngine.call", "build_reply"}


def test_a_request_enters_no_more_files_and_functions_than_the_design_allows(steps: list[Step]) -> None:
    assert len({file for file, _ in steps}) <= MOST_FILES
    assert len(steps) <= MOST_FUNCTIONS, "\n".join(f"{file} {function}" for file, function in steps)
