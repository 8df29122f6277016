"""A language is a row and an engine: nothing else needs to know of it."""

from __future__ import annotations

from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from interpreters.cases import Verdict
from interpreters.core.division import Division
from interpreters.core.languages import LANGUAGES
from interpreters.coverage import coverage_of, covering_engines, without_marks
from interpreters.headers import division_of
from interpreters.lint import lint_script
from interpreters.sandbox.runner import SandboxRunner
from interpreters.scan import Candidate, Origin, scan_place
from interpreters.suites import find_suites, run_suite
from tests.interpreters.toy_language import TOY
from webhook.server.settings import Settings

SCRIPT = """;; Division: whole
GetComponents = [{"name": "a", "replicas": 2}]
InterpretHealth = null
"""
CASES = """
- name: two pods
  operation: GetComponents
  object: {apiVersion: example.io/v1, kind: Thing}
  want: {components: [{name: a, replicas: 2}]}
"""


@pytest.fixture
def kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setitem(LANGUAGES, TOY.name, TOY)
    folder = tmp_path / "example.io/v1/Thing"
    folder.mkdir(parents=True)
    (folder / TOY.file_name).write_text(SCRIPT)
    (folder / "cases.yaml").write_text(CASES)
    return tmp_path


def test_its_scripts_are_found_run_and_covered(kind: Path) -> None:
    with SandboxRunner() as runner:
        (suite,) = find_suites(runner, [kind])
        assert [result.verdict for result in run_suite(runner, suite)] == [Verdict.PASSED]
    with SandboxRunner(engines=covering_engines()) as runner:
        (suite,) = find_suites(runner, [kind])
        (coverage,) = coverage_of([(suite, [without_marks(result) for result in run_suite(runner, suite)])])
    assert coverage.missed == [3]


def test_its_header_and_its_findings_are_read(kind: Path) -> None:
    (found,) = scan_place(kind, Origin.FOLDER)
    assert isinstance(found, Candidate)
    assert division_of(found.header) is Division.WHOLE
    with SandboxRunner() as runner:
        messages = [remark.finding.message for remark in lint_script(runner, found, portable=True)]
    assert "InterpretHealth answers nothing" in messages
    assert "Karmada runs Lua only, not toy" in messages


def test_the_setting_knows_every_language_that_scripts_are_bundled_in() -> None:
    choices = get_args(get_args(get_type_hints(Settings, include_extras=True)["bundled_language"])[0])
    assert choices == (*LANGUAGES, "none")
