"""Plain text for people."""

from __future__ import annotations


def counted(number: int, singular: str, plural: str = "") -> str:
    """`1 script`, `2 scripts`."""
    return f"{number} {singular if number == 1 else plural or singular + 's'}"
