"""Walking folders that others write: links are followed as long as they stay inside, and the walk has an end.

A mounted ConfigMap needs links (`..data` is one). A link to `.` would make the walk long, two of them endless, and one
to `/` would have it read the whole machine.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from interpreters.core.errors import DocumentError

DEEPEST: Final = 8
MOST_FOLDERS: Final = 10_000
MOST_FILES: Final = 100_000
MOST_LINKS: Final = 16
"""Ways to one folder: a kind that has moved is linked from a few versions, not from everywhere."""


def walk(root: Path, *, hidden: bool = False) -> Iterator[tuple[str, list[str]]]:
    """Each folder at or below a folder with the names of its files. What cannot be listed is left out.

    `hidden`: those whose name begins with a dot too. Raises `DocumentError` past the bounds above, having yielded what
    is within.
    """
    top = os.path.realpath(root)
    to_do: list[tuple[str, tuple[str, ...]]] = [(str(root), (top,))]
    folders = files = 0
    ways: Counter[str] = Counter()
    while to_do:
        folder, way = to_do.pop()
        inside, names = _listed(folder)
        folders, files = folders + 1, files + len(names)
        ways[way[-1]] += 1
        if ways[way[-1]] > MOST_LINKS:
            raise DocumentError(folder, f"is reached by more than {MOST_LINKS} ways; links make a maze of {root}")
        if folders > MOST_FOLDERS or files > MOST_FILES:
            raise DocumentError(str(root), f"has more than {MOST_FOLDERS} folders or {MOST_FILES} files in it")
        yield folder, names
        if len(way) > DEEPEST:
            continue
        for name, is_link in inside:
            if name.startswith(".") and not hidden:
                continue
            real = f"{way[-1].rstrip('/')}/{name}"
            if is_link:
                real = os.path.realpath(real)
                leaves = real != top and not real.startswith(top.rstrip("/") + "/")
                if leaves or real in way:
                    continue
            to_do.append((f"{folder}/{name}", (*way, real)))


def _listed(folder: str) -> tuple[list[tuple[str, bool]], list[str]]:
    """The names of the folders in a folder and whether each is a link, and the names of everything else."""
    inside: list[tuple[str, bool]] = []
    names: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if len(names) > MOST_FILES or len(inside) > MOST_FOLDERS:
                    break
                if entry.is_dir():
                    inside.append((entry.name, entry.is_symlink()))
                else:
                    names.append(entry.name)
    except OSError:
        pass
    return inside, names


def files_below(root: Path) -> Iterator[Path]:
    """All files at or below a folder, hidden folders left out: `..data` and its siblings are how a ConfigMap volume
    swaps its content, and the same files stand beside it."""
    return (Path(folder, name) for folder, names in walk(root) for name in names)
