"""The built wheel works in an empty environment, away from the checkout."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a fresh virtual environment that has the wheel and what it asks for, nothing else."""
    place = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(place), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True, timeout=300)
    (wheel,) = place.glob("karmada_interp-*.whl")
    venv.create(place / "venv", with_pip=True)
    install = [place / "venv/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel)]
    subprocess.run(install, check=True, capture_output=True, timeout=600)
    return place


def interp(installed: Path, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [installed / "venv/bin/interp", *arguments]
    return subprocess.run(command, cwd=installed, input=stdin, capture_output=True, text=True, timeout=60, check=False)


def test_it_lists_the_bundled_kinds(installed: Path) -> None:
    listed = interp(installed, "list")
    assert listed.returncode == 0, listed.stderr
    for kind in ("flink.apache.org/v1beta1 FlinkDeployment", "ray.io/v1 RayJob", "apps/v1 Deployment"):
        assert kind in listed.stdout


def test_it_runs_one(installed: Path) -> None:
    answer = interp(
        installed, "run", "GetComponents", "-", stdin=(ROOT / "docs" / "examples" / "flink.yaml").read_text()
    )
    assert answer.returncode == 0, answer.stderr
    assert "name: taskmanager\n  replicas: 2" in answer.stdout


def test_its_bundled_scripts_pass_their_cases(installed: Path) -> None:
    tested = interp(installed, "test", "--bundled")
    assert tested.returncode == 0, tested.stdout
