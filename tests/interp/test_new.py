"""`interp new`: a script that works, from nothing or from a bundled one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interp.command import interp


@pytest.mark.parametrize("language", ["lua", "starlark"])
def test_a_new_script_passes_its_cases_and_has_no_findings(language: str, tmp_path: Path) -> None:
    made = interp("new", "example.io/v1/Thing", "--lang", language, cwd=tmp_path)
    assert "next: interp test example.io/v1/Thing" in made.out
    tested = interp("test", cwd=tmp_path)
    assert (tested.code, tested.out.splitlines()[-1]) == (0, "4 passed, 0 failed")
    linted = interp("lint", *(["--portable"] if language == "lua" else []), cwd=tmp_path)
    assert (linted.code, linted.out) == (0, "")
    again = interp("new", "example.io/v1/Thing", cwd=tmp_path)
    assert again.code == 2
    assert "exists; it is left as it is" in again.err


BAD_KINDS = [
    "Thing",
    "example.io/Thing",
    "example.io/v1/thing",
    "a/b/c/D",
    "/a/v1/D",
    "../v1/D",
    "a b/v1/D",
    "a/v1/D-e",
]


@pytest.mark.parametrize("kind", BAD_KINDS)
def test_new_refuses_what_is_no_kind(kind: str, tmp_path: Path) -> None:
    ran = interp("new", kind, cwd=tmp_path)
    assert ran.code == 2
    assert "apps/v1/Deployment" in ran.err


def test_a_folder_that_cannot_be_written_is_misuse(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ran = interp("new", "example.io/v1/Thing", "--dir", "file", cwd=tmp_path)
    assert (ran.code, ran.err) == (2, "error: file/example.io/v1/Thing: Not a directory\n")


@pytest.mark.parametrize("language", ["lua", "starlark"])
def test_a_copy_of_a_bundled_script_is_complete_and_passes(language: str, tmp_path: Path) -> None:
    made = interp("new", "--from", "RayCluster", "--lang", language, "--dir", tmp_path)
    assert made.code == 0, made.err
    tested = interp("test", tmp_path)
    assert tested.code == 0, tested.out
    assert interp("lint", tmp_path).code == 0


def test_a_bundled_script_copied_without_its_snippets_is_refused_with_the_way_out(tmp_path: Path) -> None:
    folder = tmp_path / "ray.io/v1/RayCluster"
    folder.mkdir(parents=True)
    script = Path(__file__).parents[2] / "interpreters/lua/scripts/ray.io/v1/RayCluster/interpreter.lua"
    (folder / "interpreter.lua").write_text(script.read_text())
    ran = interp("list", "--folder", tmp_path)
    assert "this is a bundled script without snippets/" in ran.out + ran.err
    assert "`interp new --from RayCluster` writes a complete copy" in ran.out + ran.err


NEW_MISTAKES = [  # arguments, part of the message
    ((), "name either a GROUP/VERSION/KIND or, with --from, a bundled kind"),
    (("example.io/v1/Thing", "--from", "RayJob"), "name either a GROUP/VERSION/KIND or"),
    (("--from", "MPIJob"), "--from MPIJob is one of kubeflow.org/v1/MPIJob, kubeflow.org/v2beta1/MPIJob"),
    (("--from", "RayJb"), "did you mean RayJob?"),
]


@pytest.mark.parametrize(("arguments", "message"), NEW_MISTAKES)
def test_mistakes_in_new_are_named(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    ran = interp("new", *arguments, "--dir", tmp_path)
    assert ran.code == 2
    assert message in ran.err
