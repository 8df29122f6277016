"""What is made from the sources is up to date."""

from __future__ import annotations

from pathlib import Path

import pytest

from interpreters.core.errors import InputError
from tests.published.__main__ import SOURCES, main
from tests.published.parts import ROOT


def made() -> dict[Path, str]:
    """All pages that can be made; those that cannot fail in a test of their own."""
    found: dict[Path, str] = {}
    for pages in SOURCES:
        try:
            found |= pages()
        except InputError:
            continue
    return found


MADE = made()


@pytest.mark.parametrize("path", sorted(MADE), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_page_is_what_the_sources_say(path: Path) -> None:
    assert path.read_text() == MADE[path], "run make docs"


def test_make_docs_has_nothing_to_write_and_nothing_to_say(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"]) == 0, capsys.readouterr().err
    assert capsys.readouterr() == ("", "")
