"""The table of settings in docs/settings.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.published.parts import DOCS, with_part
from webhook.server.settings import schema

PAGE = DOCS / "settings.md"


def pages() -> dict[Path, str]:
    rows = [
        f"| `{key}` | {_default(field['default'])} | {field['description']} |"
        for key, field in schema()["properties"].items()
    ]
    return {PAGE: with_part(PAGE, "settings", "\n".join(["| key | default | meaning |", "|---|---|---|", *rows]))}


def _default(value: Any) -> str:
    if value in ("", None, [], {}):
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{int(value) if value == int(value) else value}`" if isinstance(value, float) else f"`{value}`"
