"""What the headers of the bundled scripts must say, and what `make docs` says of one that does not say it yet."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from interpreters.core.errors import InputError
from interpreters.core.kinds import GroupVersionKind
from tests.interp.command import interp
from tests.published import __main__ as make_docs
from tests.published import kinds
from tests.published.kinds import bundled_kinds, read_kind

KIND = GroupVersionKind("example.io", "v1", "Thing")
WHERE = "interpreters/lua/scripts/example.io/v1/Thing/interpreter.lua: the comment that it begins with lacks "
FUNCTION = "function GetReplicas() end\n"
POINTS = "-- Counted:\n-- - one\n-- Not counted:\n-- - two\n"
HEADERS = [  # header, what it lacks
    (f"-- A thing.\n--\n-- Division: whole\n{POINTS}", "Sources:;"),
    (f"-- A thing.\n--\n{POINTS}-- Sources:\n-- - three\n", "Division:;"),
    (f"-- A thing.\n--\n-- Division: whole\n{POINTS}-- Sources:\n", "Sources:;"),
    ("", "a summary and Division:, Counted:, Not counted:, Sources:;"),
]


@pytest.mark.parametrize(("header", "lacks"), HEADERS)
def test_a_header_that_lacks_something_is_refused_by_name(header: str, lacks: str) -> None:
    with pytest.raises(InputError) as refused:
        read_kind(KIND, header + FUNCTION)
    assert str(refused.value).startswith(WHERE + lacks)


def test_a_division_that_does_not_exist_is_refused_with_its_place() -> None:
    with pytest.raises(InputError, match=r"Thing/interpreter\.lua: Division: expected one of .*, got 'halves'"):
        read_kind(KIND, f"-- A thing.\n--\n-- Division: halves\n{POINTS}-- Sources:\n-- - three\n{FUNCTION}")


def test_every_kind_with_a_mistake_is_named(tmp_path: Path) -> None:
    for name in ("First", "Second"):
        assert interp("new", f"example.io/v1/{name}", "--dir", tmp_path).code == 0
    with pytest.raises(InputError) as refused:
        bundled_kinds(tmp_path)
    first, second = str(refused.value).splitlines()
    assert ("First" in first, "Second" in second) == (True, True)


def test_make_docs_says_in_a_sentence_what_a_fresh_kind_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert interp("new", "example.io/v1/Thing", "--dir", tmp_path).code == 0
    monkeypatch.setattr(make_docs, "SOURCES", (partial(kinds.pages, tmp_path),))
    assert make_docs.main([]) == 1
    assert (
        capsys.readouterr().err
        == f"error: {WHERE}Counted:, Not counted:, Sources:; {kinds.EXAMPLE} shows how it is written\n"
    )
