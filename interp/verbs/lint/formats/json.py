"""Findings as JSON."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from interp.verbs.lint.findings import Linted
from interpreters.core.requirements import Wire


class ReportedRemark(Wire, frozen=True, omit_defaults=False):
    """A finding as `-o json` prints it."""

    file: str
    line: Annotated[int, Meta(ge=1)]
    column: Annotated[int, Meta(ge=1)]
    rule: str
    message: str


def reported(linted: Linted) -> list[ReportedRemark]:
    return [
        ReportedRemark(one.file, one.finding.line, one.finding.column, one.finding.rule, one.finding.message)
        for one in linted.remarks
    ]
