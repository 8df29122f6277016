"""The cases of the bundled scripts run nearly every line of them."""

from __future__ import annotations

import pytest

from interpreters.core.engine import Limits
from interpreters.coverage import coverage_of, covering_engines, without_marks
from interpreters.sandbox.runner import SandboxRunner
from interpreters.suites import bundled_suites, run_suite

LEAST_PERCENT = 95


@pytest.mark.parametrize("language", ["lua", "starlark"])
def test_bundled_scripts_are_covered_by_their_cases(language: str) -> None:
    with SandboxRunner(engines=covering_engines(), limits=Limits(seconds=10)) as runner:
        files = coverage_of(
            (suite, [without_marks(result) for result in run_suite(runner, suite)])
            for suite in bundled_suites(runner, language)
        )
    assert len(files) >= 6
    low = [
        f"{file.name}: {file.percent:.1f} %, not run: {file.missed_ranges}"
        for file in files
        if file.percent < LEAST_PERCENT
    ]
    assert low == []
