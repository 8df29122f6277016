"""Test results as TAP, the Test Anything Protocol."""

from __future__ import annotations

from collections.abc import Iterator

from interp.verbs.test.results import Results
from interpreters.cases import Verdict


def render(results: Results) -> Iterator[str]:
    yield "TAP version 13"
    number = 0
    for suite, ran in results.tested:
        for problem in suite.problems:
            number += 1
            yield f"not ok {number} - {_tap_name(f'{suite.name}: {problem}')}"
        for result in ran:
            number += 1
            word = "not ok" if result.verdict is Verdict.FAILED else "ok"
            skip = " # SKIP no output to compare with" if result.verdict is Verdict.NOT_COMPARED else ""
            yield f"{word} {number} - {_tap_name(f'{suite.name}: {result.case.name}')}{skip}"
            yield from (f"# {line}" for reason in result.reasons for line in reason.splitlines())
            yield from (f"# warning: {lost}" for lost in result.lost)
    yield f"1..{number}"


def _tap_name(text: str) -> str:
    """One line, in which a # begins no directive."""
    return " ".join(text.split()).replace("\\", "\\\\").replace("#", "\\#")
