"""What a shell is offered for values: kinds, operations and the values that a setting can have."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from interp.command import interp

OFFERED = [  # words before, the word begun, what is offered
    (["serve", "--bundled-language"], "", ["lua", "none", "starlark"]),
    (["serve", "--log-level"], "w", ["warning"]),
    (["register", "--bundled-language"], "S", ["starlark"]),
    (["register", "--kinds"], "flink", ["FlinkDeployment"]),
    (["register", "--kinds"], "FlinkDeployment,rayc", ["FlinkDeployment,RayCluster"]),
    (["register", "--kinds"], "apps.kruise.io/v1b", [
        "apps.kruise.io/v1beta1/BroadcastJob", "apps.kruise.io/v1beta1/CloneSet", "apps.kruise.io/v1beta1/StatefulSet",
        "apps.kruise.io/v1beta1/UnitedDeployment",
    ]),
    (["register", "--kinds"], "kubeflow.org/v1/m", ["kubeflow.org/v1/MPIJob"]),
    (["register", "--operations"], "InterpretHealth,InterpretS", ["InterpretHealth,InterpretStatus"]),
    (["register", "--operations"], "Pru", []),
    (["export"], "sparka", ["SparkApplication"]),
    (["export"], "rayj", ["RayJob", "RayJob.v1alpha1.ray.io"]),
    (["export"], "mpi", ["MPIJob.v1.kubeflow.org", "MPIJob.v2beta1.kubeflow.org"]),
]  # fmt: skip


def offered(before: list[str], incomplete: str) -> list[str]:
    shell = ShellComplete(interp, {}, "interp", "_INTERP_COMPLETE")
    return [item.value for item in shell.get_completions(before, incomplete)]


@pytest.mark.parametrize(("before", "incomplete", "wanted"), OFFERED)
def test_values_are_completed(before: list[str], incomplete: str, wanted: list[str]) -> None:
    assert offered(before, incomplete) == wanted


def test_kinds_of_folders_named_before_are_offered_too(tmp_path: Path) -> None:
    folder = tmp_path / "example.io/v1/Opera"
    folder.mkdir(parents=True)
    (folder / "interpreter.lua").write_text("function GetReplicas(obj) return 1 end")
    assert offered(["export", "--folder", str(tmp_path)], "op") == ["Opera"]
    assert offered(["register", "--scripts", str(tmp_path), "--kinds"], "op") == ["Opera"]
