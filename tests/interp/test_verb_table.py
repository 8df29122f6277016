"""The table of verbs in interp/command.py and the folder interp/verbs agree, so a forgotten row is noticed."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

from interp import verbs
from interp.command import SUMMARIES


def test_every_verb_has_a_row_in_the_table_and_every_row_a_verb() -> None:
    there = {module.name for module in pkgutil.iter_modules(verbs.__path__)}
    assert sorted(there - {*SUMMARIES}) == [], "add a row to VERBS in interp/command.py"
    assert sorted({*SUMMARIES} - there) == [], "interp/verbs has no such file or folder"


@pytest.mark.parametrize("verb", SUMMARIES)
def test_a_verb_is_summed_up_in_the_same_words_everywhere(verb: str) -> None:
    command = importlib.import_module(f"interp.verbs.{verb}").command
    assert command.short_help in (None, SUMMARIES[verb])
