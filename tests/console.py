"""Running the `console` examples of a document: what a reader would type, and what they would see."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Example:
    """A command and the output shown for it; a line of `...` stands for any lines, `…` for any characters."""

    command: str
    shown: str


def examples(document: Path) -> list[Example]:
    """Every `$ command` of the document's console blocks, in order. A line that ends in `\\` goes on."""
    found = []
    for block in _BLOCK.findall(document.read_text()):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            lines = part.splitlines()
            command = [lines.pop(0)]
            while command[-1].endswith("\\"):
                command.append(lines.pop(0))
            found.append(Example("\n".join(command), "\n".join(lines).strip()))
    return found


def run(example: Example, folder: Path) -> str:
    """What the command prints, standard error included, in a folder that looks like a checkout."""
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(folder),
        "NO_COLOR": "1",
        "COLUMNS": "120",
        "LANG": "C.UTF-8",
    }
    done = subprocess.run(
        ["bash", "-c", example.command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=120,
        check=False,
    )
    return "\n".join(line.rstrip() for line in done.stdout.strip().splitlines())


def matches(shown: str, printed: str) -> bool:
    """Is this the output the document shows, wildcards aside?"""
    if not shown:
        return True
    pattern = re.escape(shown).replace(re.escape("…"), ".*?")
    pattern = re.sub(r"(?:^|(?<=\n))\\\.\\\.\\\.(?=\\?\n|$)", r"(?s:.*?)", pattern)
    return re.fullmatch(pattern, printed) is not None


def checkout(folder: Path) -> Path:
    """A folder with the files that the documents speak of, where commands may write."""
    for name in ("docs", "interpreters", "deploy"):
        (folder / name).symlink_to(ROOT / name)
    return folder
