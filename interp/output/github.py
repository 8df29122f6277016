"""Workflow commands of GitHub Actions: findings that are shown beside the line of a file."""

from __future__ import annotations


def github_annotation(message: str, *, level: str = "error", **properties: object) -> str:
    """One finding; GitHub wants some characters spelled otherwise."""
    places = ",".join(f"{key}={_escaped(str(value), ':,')}" for key, value in properties.items())
    return f"::{level} {places}::{_escaped(message)}"


def _escaped(text: str, more: str = "") -> str:
    for character in "%\r\n" + more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text
