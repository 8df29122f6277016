"""Case tables as pytest tests, by one import in a conftest.py:

    from interpreters.pytest_cases import pytest_collect_file

Every `cases.yaml` beside an interpreter is collected, and Karmada's `testdata/*-test.yaml` and
`customizations_tests.yaml` beside a `customizations.yaml`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interpreters.cases import Case, Verdict, is_case_file, run_case, scripts_folder
from interpreters.catalog import Catalog
from interpreters.core.languages import LANGUAGES
from interpreters.sandbox.runner import SandboxRunner
from interpreters.scan import CUSTOMIZATIONS_FILE
from interpreters.suites import find_suites

_runner: list[SandboxRunner] = []


def _sandbox() -> SandboxRunner:
    """One sandbox for the whole run, closed when pytest ends."""
    if not _runner:
        _runner.append(SandboxRunner())
    return _runner[0]


class CaseFile(pytest.File):
    """One case file."""

    def collect(self) -> Iterator[pytest.Item]:
        for suite in find_suites(_sandbox(), [self.path]):
            for problem in suite.problems:
                raise self.CollectError(str(problem))
            for case in suite.cases:
                yield CaseItem.from_parent(self, name=case.name, case=case, catalog=suite.catalog)


class CaseItem(pytest.Item):
    """One case."""

    def __init__(self, *, case: Case, catalog: Catalog, **more: Any) -> None:
        super().__init__(**more)
        self.case = case
        self.catalog = catalog

    def runtest(self) -> None:
        result = run_case(_sandbox(), self.catalog, self.case)
        if result.verdict is Verdict.FAILED:
            pytest.fail("\n".join(result.reasons), pytrace=False)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.case.position, f"{self.case.operation}: {self.case.name}"


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> CaseFile | None:
    """Take the file if it is a case table with a script beside it."""
    if not is_case_file(file_path):
        return None
    ours = [language.file_name for language in LANGUAGES.values()]
    names = ours if file_path.name == "cases.yaml" else [CUSTOMIZATIONS_FILE]
    has_script = any((scripts_folder(file_path) / name).is_file() for name in names)
    return CaseFile.from_parent(parent, path=file_path) if has_script else None


def pytest_unconfigure() -> None:
    while _runner:
        _runner.pop().close()
