"""Karmada's own layout runs unchanged: a tree written for the purpose, and a Karmada checkout where there is one."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

from interpreters.cases import Verdict
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
