"""The results of `interp test`, and what they add up to."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from interp.output.text import counted
from interpreters.cases import Result, Verdict
from interpreters.core.requirements import Wire
from interpreters.suites import Suite

Tested = tuple[Suite, list[Result]]


@dataclass(frozen=True, slots=True)
class Results:
    """The suites that ran; `verbose` if the text has a line for every case, with what it cost."""

    tested: list[Tested]
    verbose: bool = False

    @property
    def totals(self) -> Totals:
        return Totals.of(self.tested)


class Totals(Wire, frozen=True, omit_defaults=False):
    passed: int
    failed: int
    problems: int
    not_compared: int

    @classmethod
    def of(cls, tested: list[Tested]) -> Totals:
        count = Counter(result.verdict for _, results in tested for result in results)
        problems = sum(len(suite.problems) for suite, _ in tested)
        return cls(count[Verdict.PASSED], count[Verdict.FAILED], problems, count[Verdict.NOT_COMPARED])

    @property
    def is_good(self) -> bool:
        return not self.failed and not self.problems

    def __str__(self) -> str:
        parts = [f"{self.passed} passed", f"{self.failed} failed"]
        if self.not_compared:
            parts.append(f"{self.not_compared} not compared")
        if self.problems:
            parts.append(counted(self.problems, "problem"))
        return ", ".join(parts)
