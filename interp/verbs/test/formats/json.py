"""Test results as JSON."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from interp.verbs.test.results import Results, Totals
from interpreters.cases import Result, Verdict
from interpreters.core.requirements import Wire


class ReportedCase(Wire, frozen=True, omit_defaults=False):
    name: str
    operation: str
    file: str
    verdict: Verdict
    cost: Annotated[int | None, Meta(description="What the call cost, counted; null where it failed.")]
    seconds: float
    reasons: list[str]
    warnings: Annotated[list[str], Meta(description="What the script returned and the reply does not hold.")]


class ReportedSuite(Wire, frozen=True, omit_defaults=False):
    name: str
    problems: list[str]
    cases: list[ReportedCase]


class SuitesReport(Wire, frozen=True, omit_defaults=False):
    """Everything that `interp test -o json` prints."""

    suites: list[ReportedSuite]
    totals: Totals


def report_of(results: Results) -> SuitesReport:
    suites = [
        ReportedSuite(suite.name, [str(problem) for problem in suite.problems], list(map(_reported_case, ran)))
        for suite, ran in results.tested
    ]
    return SuitesReport(suites, results.totals)


def _reported_case(result: Result) -> ReportedCase:
    return ReportedCase(
        result.case.name,
        result.case.operation.name,
        str(result.case.file),
        result.verdict,
        result.cost,
        round(result.seconds, 6),
        list(result.reasons),
        list(result.lost),
    )
