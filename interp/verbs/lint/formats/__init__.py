"""The output formats of `interp lint`, a file for each."""

from __future__ import annotations

from typing import Final

from interp.output.formats import Formats
from interp.output.json import print_json
from interp.output.text import print_lines
from interp.verbs.lint.findings import Linted
from interp.verbs.lint.formats import github, json, text


def _print_json(linted: Linted) -> None:
    print_json(json.reported(linted))


def _print_sarif(linted: Linted) -> None:
    from interp.verbs.lint.formats.sarif import sarif_log

    print_json(sarif_log(linted.remarks))


FORMATS: Final[Formats[Linted]] = Formats(
    text=text.print_findings, json=_print_json, github=print_lines(github.render), sarif=_print_sarif
)
