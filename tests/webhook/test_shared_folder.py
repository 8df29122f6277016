"""Folders that processes share: each is there for as long as somebody uses it, and no longer."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from webhook.server.shared_folder import PREFIX, joined_folder, own_folder

STARTING_AND_ENDING = """
import os
from webhook.server.shared_folder import joined_folder, own_folder
for i in range(60):
    with own_folder() as path, joined_folder(path):
        open(os.path.join(path, "value.db"), "x").close()
        assert os.path.exists(os.path.join(path, "value.db"))

"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_supervisors_that_start_at_once_leave_each_others_folders_alone(temporary: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(temporary)}
    command = [sys.executable, "-c", STARTING_AND_ENDING]
    running = [subprocess.Popen(command, env=environment) for _ in range(4)]
    assert [process.wait(60) for process in running] == [0] * 4
    assert list(temporary.iterdir()) == []


def test_the_last_to_leave_removes_the_folder(temporary: Path) -> None:
    path = tempfile.mkdtemp(prefix=PREFIX)
    with joined_folder(path):
        with joined_folder(path):
            Path(path, "value.db").touch()
        assert Path(path, "value.db").exists()
    assert list(temporary.iterdir()) == []


def test_a_server_process_that_ends_before_its_supervisor_leaves_the_folder() -> None:
    with own_folder() as path:
        with joined_folder(path):
            pass
        assert Path(path).is_dir()
        with joined_folder(path):
            assert Path(path).is_dir()
    assert not Path(path).exists()


def test_a_folder_that_is_gone_already_is_nothing_to_stumble_over(temporary: Path) -> None:
    with joined_folder(str(temporary / "gone")):
        pass


def test_only_folders_of_ours_that_nobody_uses_are_removed(temporary: Path) -> None:
    (temporary / f"{PREFIX}abandoned").mkdir()
    (temporary / "elsewhere").mkdir()
    (temporary / "elsewhere/precious").touch()
    (temporary / f"{PREFIX}link").symlink_to(temporary / "elsewhere")
    (temporary / f"{PREFIX}file").touch()
    used = tempfile.mkdtemp(prefix=PREFIX)
    with joined_folder(used):
        with own_folder() as own:
            left = {path.name for path in temporary.iterdir()}
        assert left == {"elsewhere", f"{PREFIX}link", f"{PREFIX}file", Path(used).name, Path(own).name}
    assert (temporary / "elsewhere/precious").exists()
