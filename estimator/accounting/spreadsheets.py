"""Cells that a spreadsheet opens: text of strangers must not become a formula."""

from __future__ import annotations

from typing import Final

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def harmless(text: str) -> str:
    """The text, with an apostrophe before what a spreadsheet would compute.

    >>> harmless("=1+1"), harmless("team-a")
    ("'=1+1", 'team-a')
    """
    return f"'{text}" if text.startswith(_FORMULA) else text
