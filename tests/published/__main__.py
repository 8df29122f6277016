"""`make docs`: write what is out of date. With `--check` only name it, and exit 1 if there is any."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from interpreters.core.errors import InputError
from tests.live.matrix import page as live_matrix
from tests.published import kinds, metrics, schemas, settings

SOURCES: Final[tuple[Callable[[], Mapping[Path, str]], ...]] = (
    kinds.pages,
    schemas.pages,
    settings.pages,
    metrics.pages,
    live_matrix.pages,
)


def main(arguments: list[str]) -> int:
    """What cannot be made is said in a sentence, and keeps nothing else from being written."""
    failed = False
    for pages in SOURCES:
        try:
            made = pages()
        except InputError as error:
            sys.stderr.writelines(f"error: {line}\n" for line in str(error).splitlines())
            failed = True
            continue
        for path, text in made.items():
            if path.is_file() and path.read_text() == text:
                continue
            if "--check" in arguments:
                sys.stderr.write(f"{path}: out of date, run make docs\n")
                failed = True
            else:
                path.write_text(text)
                sys.stdout.write(f"{path}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
