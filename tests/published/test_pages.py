"""What is made from the sources is up to date, and what cannot be made is said in a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.published.__main__ import SOURCES
from tests.published.parts import ROOT

MADE = {path: text for pages in SOURCES for path, text in pages().items()}


@pytest.mark.parametrize("path", sorted(MADE), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_page_is_what_the_sources_say(path: Path) -> None:
    assert path.read_text() == MADE[path], "run make docs"
