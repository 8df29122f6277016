"""What changes in an object, as a unified diff of its YAML."""

from __future__ import annotations

from typing import Any, Final

import click

from interp.output.yaml import to_yaml

_COLOURS: Final = {"+": "green", "-": "red", "@": "cyan"}


def diff_lines(before: Any, after: Any) -> list[str]:
    """The lines, coloured."""
    import difflib

    lines = difflib.unified_diff(to_yaml(before).splitlines(), to_yaml(after).splitlines(), lineterm="", n=2)
    return [click.style(line, fg=_COLOURS.get(line[:1])) for line in list(lines)[2:]]
