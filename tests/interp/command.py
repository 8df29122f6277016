"""Running the command as a user does: its own process, real files, exit codes and both output streams."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


def interp(*arguments: str | Path, stdin: str = "", cwd: Path | None = None, colour: bool = False) -> Ran:
    """Run `interp` with these arguments."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("INTERP_")}
    environment |= {"COLUMNS": "200", "PYTHONUTF8": "1"}
    environment |= {"FORCE_COLOR": "1"} if colour else {"NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "interp", *map(str, arguments)],
        input=stdin,
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)
