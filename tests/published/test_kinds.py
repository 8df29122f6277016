"""The READMEs and the table of kinds are what the scripts' headers say."""

from __future__ import annotations

import pytest

from interpreters.core.errors import InputError
from interpreters.core.kinds import GroupVersionKind
from tests.published.kinds import read_kind

KIND = GroupVersionKind("example.io", "v1", "Thing")


def test_a_header_without_a_section_is_refused() -> None:
    with pytest.raises(InputError, match=r'example\.io/v1/Thing/interpreter\.lua: .* no points under "Sources:"'):
        read_kind(
            KIND, "-- A thing.\n--\n-- Counted:\n-- - one\n-- Not counted:\n-- - two\nfunction GetReplicas() end\n"
        )
