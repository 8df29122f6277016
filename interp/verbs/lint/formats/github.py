"""Findings as annotations of GitHub Actions."""

from __future__ import annotations

from collections.abc import Iterator

from interp.output.github import github_annotation
from interp.verbs.lint.findings import Linted


def render(linted: Linted) -> Iterator[str]:
    for remark in linted.remarks:
        found = remark.finding
        yield github_annotation(found.message, file=remark.file, line=found.line, col=found.column, title=found.rule)
