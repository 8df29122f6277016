"""Karmada's own layout runs unchanged: a tree written for the purpose, and a Karmada checkout where there is one."""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from interpreters.cases import Verdict, read_cases
from interpreters.core.errors import DocumentError
from interpreters.core.operations import BY_RULE
from interpreters.sandbox.runner import SandboxRunner
from interpreters.suites import find_suites, run_suite
from tests.interp.command import interp

TREE = Path(__file__).parent / "karmada"


def test_a_tree_with_all_eight_rules_passes() -> None:
    with SandboxRunner() as runner:
        (suite,) = find_suites(runner, [TREE])
        results = list(run_suite(runner, suite))
    assert not suite.problems
    assert {operation.rule for _, operation in suite.catalog.offers} == set(BY_RULE)
    assert [result.reasons for result in results if result.verdict is Verdict.FAILED] == []
    assert Counter(result.verdict for result in results) == {Verdict.PASSED: 8, Verdict.NOT_COMPARED: 1}


def test_a_document_without_output_is_run_and_reported_as_not_compared() -> None:
    ran = interp("test", TREE)
    assert ran.code == 0
    assert "run, but nothing to compare with: run, but not compared" in ran.out
    assert ran.out.splitlines()[-1] == "8 passed, 0 failed, 1 not compared"


def test_a_wrong_answer_fails(tmp_path: Path) -> None:
    kind = tmp_path / "training.example.io/v1/TrainingJob"
    (kind / "testdata").mkdir(parents=True)
    source = TREE / kind.relative_to(tmp_path)
    (kind / "customizations.yaml").write_text(
        (source / "customizations.yaml").read_text().replace('~= "Failed"', '~= ""')
    )
    (kind / "testdata/a-test.yaml").write_text((source / "testdata/training-test.yaml").read_text())
    ran = interp("test", tmp_path)
    assert ran.code == 1
    assert "healthy: want false, got true" in ran.out


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """The same customization with a test of each operation as Karmada wrote it up to 1.16."""
    kind = tmp_path / "training.example.io/v1/TrainingJob"
    (kind / "testdata").mkdir(parents=True)
    shutil.copy(TREE / kind.relative_to(tmp_path) / "customizations.yaml", kind)
    (kind / "testdata/job.yaml").write_text(OLDER_JOB)
    (kind / "testdata/status.yaml").write_text("clusterName: a\nstatus: {}\n---\nclusterName: b\nstatus: {}\n")
    (kind / "customizations_tests.yaml").write_text(OLDER_TESTS)
    return kind


OLDER_JOB = """\
apiVersion: training.example.io/v1
kind: TrainingJob
metadata: {name: job, namespace: default}
spec: {roles: [{name: worker, replicas: 2}]}
status: {phase: Running}
"""
OLDER_TESTS = """\
tests:
  - {operation: InterpretHealth, observedInputPath: testdata/job.yaml}
  - {operation: InterpretStatus, observedInputPath: /testdata/job.yaml}
  - {operation: ReviseReplica, desiredInputPath: testdata/job.yaml, desiredReplicas: 3}
  - {operation: Retain, desiredInputPath: testdata/job.yaml, observedInputPath: testdata/job.yaml}
  - {operation: AggregateStatus, desiredInputPath: testdata/job.yaml, statusInputPath: testdata/status.yaml}
"""


def test_the_older_format_runs_without_anything_to_compare_with(older: Path) -> None:
    health, _, revise, retain, aggregate = read_cases(older / "customizations_tests.yaml")
    assert (health.name, health.operation.name) == ("1: InterpretHealth of job.yaml", "InterpretHealth")
    assert (revise.replicas, retain.observed, retain.object) == (3, health.object, health.object)
    assert [item["clusterName"] for item in aggregate.status or ()] == ["a", "b"]
    for path in (older, older / "customizations_tests.yaml"):
        ran = interp("test", path)
        assert (ran.code, ran.out.splitlines()[-1]) == (0, "0 passed, 0 failed, 5 not compared")


def test_a_script_that_fails_an_older_test_is_told(older: Path) -> None:
    script = older / "customizations.yaml"
    script.write_text(script.read_text().replace('~= "Failed"', "..nil"))
    ran = interp("test", older)
    assert ran.code == 1
    assert "1: InterpretHealth of job.yaml" in ran.out


@pytest.mark.parametrize(
    ("tests", "message"),
    [
        ("[]", "expected one document with a list of tests"),
        ("tests: {}", "expected one document with a list of tests"),
        ("tests: [7]", "test 1: expected an object, got 7"),
        ("tests: [{operation: Retain, inputPath: x}]", "test 1: unknown key inputPath; known are operation, desired"),
        ("tests: [{operation: Retain, desiredInputPath: [x]}]", "test 1: expected the path of a file, got ['x']"),
        ("tests: [{operation: Retain, desiredInputPath: x.yaml}]", "x.yaml: No such file or directory"),
        ("tests: [{operation: Retain}]", "expected an object in desiredObj or observedObj"),
        ("tests: [{operation: Guess, desiredInputPath: testdata/job.yaml}]", "Guess"),
        ("tests: [{operation: Retain, desiredInputPath: testdata/none.yaml}]", "none.yaml: no object in it"),
    ],
)
def test_mistakes_in_the_older_format_are_named(tests: str, message: str, older: Path) -> None:
    (older / "testdata/none.yaml").touch()
    (older / "customizations_tests.yaml").write_text(tests)
    with pytest.raises(DocumentError, match=re.escape(message)):
        read_cases(older / "customizations_tests.yaml")


def test_a_karmada_checkout_passes_if_there_is_one() -> None:
    """`make conformance KARMADA_SRC=<checkout>` sets the variable; without a checkout the tree above stands for it."""
    source = Path(os.environ.get("KARMADA_SRC") or TREE)
    below = source / "pkg/resourceinterpreter/default/thirdparty/resourcecustomizations"
    with SandboxRunner() as runner:
        suites = list(find_suites(runner, [below if below.is_dir() else source]))
        failures = [
            f"{suite.name}: {result.case.name}: {reason}"
            for suite in suites
            for result in run_suite(runner, suite)
            if result.verdict is Verdict.FAILED
            for reason in result.reasons
        ]
        problems = [str(problem) for suite in suites for problem in suite.problems]
    assert failures + problems == []
