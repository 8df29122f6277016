"""Case tables run under pytest by one import in a conftest.py."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from tests.interp.command import interp


def run_pytest(folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(folder), str(folder)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=folder,
    )
    return done.stdout


def test_a_folder_of_scripts_is_collected_and_a_wrong_answer_fails(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("from interpreters.pytest_cases import pytest_collect_file\n")
    assert interp("new", "example.io/v1/Thing", cwd=tmp_path).code == 0
    assert "4 passed" in run_pytest(tmp_path)
    script = tmp_path / "example.io/v1/Thing/interpreter.lua"
    script.write_text(script.read_text().replace("replicas = spec.replicas or 1", "replicas = 7"))
    output = run_pytest(tmp_path)
    assert "1 failed, 3 passed" in output
    assert "components[0](worker).replicas: want 2, got 7" in output


def test_a_case_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("from interpreters.pytest_cases import pytest_collect_file\n")
    assert interp("new", "example.io/v1/Thing", cwd=tmp_path).code == 0
    (tmp_path / "example.io/v1/Thing/cases.yaml").write_text("- {name: x}\n")
    assert "'operation' is a required property" in run_pytest(tmp_path)


def test_karmadas_tables_are_collected_beside_a_customization_only(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("from interpreters.pytest_cases import pytest_collect_file\n")
    shutil.copytree(Path(__file__).parent / "karmada", tmp_path / "karmada")
    kind = tmp_path / "karmada/training.example.io/v1/TrainingJob"
    assert "9 passed" in run_pytest(tmp_path)
    (kind / "testdata/job.yaml").write_text("apiVersion: training.example.io/v1\nkind: TrainingJob\n")
    older = "tests: [{operation: InterpretHealth, observedInputPath: testdata/job.yaml}]"
    (kind / "customizations_tests.yaml").write_text(older)
    (tmp_path / "customizations_tests.yaml").write_text("of something else")
    assert "10 passed" in run_pytest(tmp_path)
