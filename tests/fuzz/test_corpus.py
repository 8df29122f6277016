"""Whatever the fuzzer once found stays fixed, and the fuzzer does find things."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import pytest

from tests.fuzz import child
from tests.fuzz.__main__ import CORPUS, TARGETS, fuzz

INPUTS = [(target, file) for target in TARGETS for file in sorted((CORPUS / target).iterdir())]


@pytest.mark.parametrize(("target", "file"), INPUTS, ids=lambda part: getattr(part, "name", part))
def test_a_known_input_is_read_or_refused(target: str, file: Path) -> None:
    import_module(f"tests.fuzz.targets.{target}").check(file.read_bytes())


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_has_a_corpus(target: str) -> None:
    assert len([file for name, file in INPUTS if name == target]) >= 3


def test_a_mistake_is_found_and_its_input_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "seed").write_bytes(b"{")
    assert not fuzz("tests.fuzz.planted", child.Effort(30), tmp_path / "corpus", tmp_path / "reached")
    [kept] = (tmp_path / "corpus").glob("crash-*")
    assert kept.read_bytes().startswith(b"{{")
    assert f"kept: {kept}" in capsys.readouterr().out


@pytest.mark.parametrize("effort", [child.Effort(30), child.Effort(0, 100_000, 1)], ids=["seconds", "inputs"])
def test_without_atheris_hypothesis_varies_the_corpus(
    effort: child.Effort, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "seed").write_bytes(b"{")
    monkeypatch.setitem(sys.modules, "atheris", None)
    assert child.main("tests.fuzz.planted", effort, tmp_path, [tmp_path]) == 1
    [kept] = tmp_path.glob("crash-*")
    assert kept.read_bytes().startswith(b"{{")


@pytest.mark.parametrize(("effort", "said"), [(child.Effort(1), "1 s"), (child.Effort(0, 200, 1), "200 inputs")])
def test_nothing_found_is_said_with_the_effort(
    effort: child.Effort, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fuzz("tests.fuzz.targets.frames", effort, CORPUS / "frames", tmp_path / "reached")
    assert f"{said}, nothing found" in capsys.readouterr().out
