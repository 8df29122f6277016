"""Test results as annotations of GitHub Actions."""

from __future__ import annotations

from collections.abc import Iterator

from interp.output.github import github_annotation
from interp.verbs.test.results import Results
from interpreters.cases import Verdict
from interpreters.suites import lost_in


def render(results: Results) -> Iterator[str]:
    for suite, ran in results.tested:
        yield from (github_annotation(str(problem), title=suite.name) for problem in suite.problems)
        for result in ran:
            if result.verdict is Verdict.FAILED:
                yield github_annotation("\n".join(result.reasons), file=result.case.file, title=result.case.name)
        for result, lost in lost_in(ran):
            yield github_annotation(lost, level="warning", file=result.case.file, title=suite.name)
    yield str(results.totals)
