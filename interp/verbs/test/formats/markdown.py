"""Test results as Markdown, for summaries and comments."""

from __future__ import annotations

from collections.abc import Iterator

from interp.verbs.test.results import Results
from interpreters.cases import Verdict
from interpreters.suites import lost_in


def render(results: Results) -> Iterator[str]:
    yield "| scripts | cases | failed |"
    yield "|---|---:|---:|"
    for suite, ran in results.tested:
        failed = sum(result.verdict is Verdict.FAILED for result in ran) + len(suite.problems)
        yield f"| `{suite.name}` | {len(ran)} | {failed} |"
    yield ""
    for suite, ran in results.tested:
        yield from (f"- **{suite.name}**: {problem}" for problem in suite.problems)
        for result in ran:
            if result.verdict is Verdict.FAILED:
                yield f"- **{suite.name}**, {result.case.name}:"
                yield from (f"  - `{reason}`" for reason in result.reasons)
        yield from (f"- **{suite.name}**, warning: {lost}" for _, lost in lost_in(ran))
    yield f"**{results.totals}**"
