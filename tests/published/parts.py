"""A part of a page that is made from the code, between two comments that say so; the rest is written by hand."""

from __future__ import annotations

from pathlib import Path

from interpreters.core.errors import InputError

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def with_part(page: Path, name: str, text: str) -> str:
    """The page with the text between the comments that name the part. Raises `InputError` if it has no such part."""
    begin, end = f"<!-- {name}: written by `make docs` -->\n", f"<!-- end of {name} -->"
    before, found, rest = page.read_text().partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise InputError(f"{page}: expected {begin.strip()} and then {end}")
    return f"{before}{begin}{text.rstrip()}\n{closed}{after}"
