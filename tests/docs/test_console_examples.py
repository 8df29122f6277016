"""What the README and the documents show in their console blocks is what a reader sees."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.console import ROOT, checkout, examples, matches, run
from tests.interp.command import interp

DOCUMENTS = [path for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))) if examples(path)]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_the_commands_of_a_document_print_what_it_shows(document: Path, tmp_path: Path) -> None:
    folder = checkout(tmp_path)
    for example in examples(document):
        printed = run(example, folder)
        assert matches(example.shown, printed), f"$ {example.command}\nshown:\n{example.shown}\n\nprinted:\n{printed}"


def test_the_readme_has_a_tour() -> None:
    assert len(examples(ROOT / "README.md")) >= 6


def test_the_script_and_the_cases_of_the_lua_guide_pass(tmp_path: Path) -> None:
    guide = (ROOT / "docs" / "lua.md").read_text()
    kind = tmp_path / "example.io/v1/TrainingJob"
    kind.mkdir(parents=True)
    for fence, name in (("lua", "interpreter.lua"), ("yaml", "cases.yaml")):
        blocks = re.findall(rf"^```{fence}\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)
        (kind / name).write_text("".join(blocks))
    ran = interp("test", tmp_path)
    assert (ran.code, ran.out.splitlines()[-1]) == (0, "5 passed, 0 failed")
