"""The READMEs and the table of kinds are what the scripts' headers say."""

from __future__ import annotations

from pathlib import Path

import pytest

from interpreters.core.errors import InputError
from interpreters.core.kinds import GroupVersionKind
from interpreters.lua.kind_docs import pages, read_kind

KIND = GroupVersionKind("example.io", "v1", "Thing")


@pytest.mark.parametrize("path", sorted(pages()), ids=lambda path: "/".join(path.parts[-4:]))
def test_generated_pages_are_up_to_date(path: Path) -> None:
    assert path.read_text() == pages()[path], "run make docs"


def test_a_header_without_a_section_is_refused() -> None:
    with pytest.raises(InputError, match=r'example\.io/v1/Thing/interpreter\.lua: .* no points under "Sources:"'):
        read_kind(
            KIND, "-- A thing.\n--\n-- Counted:\n-- - one\n-- Not counted:\n-- - two\nfunction GetReplicas() end\n"
        )
