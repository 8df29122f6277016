"""The examples of docs/quota.md run, and show what they say."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

from tests.console import checkout, examples, matches, run

PAGE = Path(__file__).parents[3] / "docs" / "quota.md"


def test_the_commands_of_the_page_print_what_it_shows(tmp_path: Path) -> None:
    folder = checkout(tmp_path)
    for example in examples(PAGE):
        printed = run(example, folder)
        assert matches(example.shown, printed), f"$ {example.command}\n{printed}"


def test_the_library_example_of_the_page_runs(tmp_path: Path) -> None:
    blocks = "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL))
    names = {"ledger_file": str(tmp_path / "ledger.db")}
    said: list[str] = []
    example = doctest.DocTestParser().get_doctest(blocks, names, PAGE.name, str(PAGE), 0)
    outcome = doctest.DocTestRunner(verbose=False).run(example, out=said.append)
    assert outcome.attempted > 10
    assert outcome.failed == 0, "".join(said)
