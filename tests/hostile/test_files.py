"""Every hostile file given to a real command that may use little memory, and to a server that reads it."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hostile.files import FILES, HostileFile
from tests.hostile.rows import MIB

MEMORY = 1536 * MIB
ROWS = pytest.mark.parametrize("row", FILES, ids=lambda row: row.name)


BOUNDED = f"""
import resource
resource.setrlimit(resource.RLIMIT_AS, ({MEMORY}, {MEMORY}))
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
from interp.__main__ import main
main()
"""
"""The command with little memory. It bounds itself: nothing may run between fork and exec where gRPC is loaded."""


@ROWS
def test_the_command_reads_it_or_says_why_not(tmp_path: Path, row: HostileFile) -> None:
    file = tmp_path / "hostile.yaml"
    file.write_text(row.text())
    done = subprocess.run(
        [sys.executable, "-c", BOUNDED, "run", "GetReplicas", str(file)], capture_output=True, text=True, check=False
    )
    assert done.returncode == row.exit_code, done.stderr[:2000]
    assert row.says in done.stderr, done.stderr[:2000]
    assert "bug of interp" not in done.stderr
    assert len(done.stderr) < 16 * 1024


@pytest.mark.parametrize(
    "name", ["\x1b[2J\x1b]0;title\x07", "a\rb", "\u202etxt.exe", "\x9b2J"], ids=["escapes", "return", "bidi", "C1"]
)
def test_a_terminal_gets_no_commands_from_a_file(tmp_path: Path, name: str) -> None:
    file = tmp_path / "named.json"
    file.write_text(f'{{"apiVersion": "nobody.io/v1", "kind": {ascii_json(name)}, "metadata": {{"name": "x"}}}}')
    leader, follower = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "interp", "run", "GetReplicas", str(file)],
        stdout=follower, stderr=follower, stdin=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        os.close(follower)
        shown = read_all(leader)
    assert process.returncode in (1, 2)
    assert "nobody.io/v1" in shown
    assert not any(sequence in shown for sequence in ("\x1b[2J", "\x1b]0", "a\rb", "\u202e", "\x9b", "\x07"))


def ascii_json(text: str) -> str:
    import json

    return json.dumps(text)


def read_all(descriptor: int) -> str:
    received = b""
    try:
        while chunk := os.read(descriptor, 65536):
            received += chunk
    except OSError:  # a terminal whose other end is gone
        pass
    finally:
        os.close(descriptor)
    return received.decode(errors="replace")
