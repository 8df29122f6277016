"""Findings about a running server or its certificates: each with its level, what it is about and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import click

from interp.output.formats import Formats
from interp.output.json import print_json
from interp.output.text import print_lines

if TYPE_CHECKING:
    from certs.check import FindingsReport

_COLOURS: Final = {"ok": "green", "warning": "yellow", "error": "red"}


def _lines(report: FindingsReport) -> Iterator[str]:
    for finding in report.findings:
        level = click.style(f"{finding.level:8}", fg=_COLOURS[finding.level])
        yield f"{level}{finding.subject}: {finding.message}"
        if finding.fix:
            yield f"        → {finding.fix}"


FINDINGS: Final[Formats[FindingsReport]] = Formats(text=print_lines(_lines), json=print_json)


def exit_code(report: FindingsReport) -> int:
    return 1 if any(finding.level == "error" for finding in report.findings) else 0
