"""What a linter found, and where."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One remark about a text. Lines and columns count from 1."""

    line: int
    column: int
    rule: str
    message: str
