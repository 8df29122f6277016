"""`interp completion`: what the shell is given, and what it then offers."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from interp.command import interp as group
from tests.interp.command import interp
from tests.interp.reports import SCHEMAS


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_a_script_for_the_shell(shell: str) -> None:
    ran = interp("completion", shell)
    assert ran.code == 0
    assert "_INTERP_COMPLETE" in ran.out


COMPLETED = [
    (("",), "run"),
    (("li",), "lint list"),
    (("run", "--wa"), "--watch"),
    (("run", "-o", ""), "text json yaml"),
    (("run", "getco"), "GetComponents GetComponentReplicas"),
    (("run", "some.yaml", "Get"), ""),
    (("test", "-o", "j"), "json junit"),
    (("new", "--lang", ""), "lua starlark"),
    (("completion", ""), "bash zsh fish"),
]


def test_bash_completes_verbs_options_operations_and_formats(tmp_path: Path) -> None:
    """The generated function, called as bash calls it; `compopt` only works inside a real key press."""
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    (bin_folder / "interp").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m interp "$@"\n')
    (bin_folder / "interp").chmod(0o755)
    asking = "".join(
        f"COMP_WORDS=({' '.join(map(shlex.quote, ('interp', *words)))}); COMP_CWORD={len(words)}; COMPREPLY=()\n"
        '_interp_completion interp; echo "${COMPREPLY[*]}"\n'
        for words, _ in COMPLETED
    )
    ran = subprocess.run(
        ["bash", "-c", f'compopt() {{ :; }}\neval "$(interp completion bash)"\n{asking}'],
        env={**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}", "PYTHONPATH": str(SCHEMAS.parent.parent)},
        capture_output=True,
        text=True,
        check=True,
    )
    offered = ran.stdout.splitlines()
    assert [
        line.split()[:1] if words == ("",) else line.split()
        for (words, _), line in zip(COMPLETED, offered, strict=True)
    ] == [wanted.split() for _, wanted in COMPLETED]


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
    shell = ShellComplete(group, {}, "interp", "_INTERP_COMPLETE")
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
