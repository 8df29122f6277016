"""The output formats of `interp test`, a file for each."""

from __future__ import annotations

from typing import Final

from interp.output.formats import Formats
from interp.output.json import print_json
from interp.output.text import print_lines
from interp.verbs.test.formats import github, json, junit, markdown, tap, text
from interp.verbs.test.results import Results


def _print_json(results: Results) -> None:
    print_json(json.report_of(results))


FORMATS: Final[Formats[Results]] = Formats(
    text=print_lines(text.render),
    json=_print_json,
    junit=print_lines(junit.render),
    tap=print_lines(tap.render),
    github=print_lines(github.render),
    markdown=print_lines(markdown.render),
)
