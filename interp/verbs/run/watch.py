"""`interp run --watch`: again whenever a file changes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import click

from interp.output.script_errors import error_text
from interp.output.terminal import erase_screen
from interpreters.core.errors import InterpError


def run_again(once: Callable[[], int], places: list[Path]) -> None:
    while True:
        erase_screen()
        before = _modified(places)
        try:
            once()
        except InterpError as error:
            click.echo(error_text(error), err=True)
        click.echo(click.style("watching; Ctrl-C ends it", dim=True), err=True)
        sys.stdout.flush()
        while _modified(places) == before:
            time.sleep(0.2)


def _modified(paths: list[Path]) -> dict[Path, tuple[int, int]]:
    """When each file was last changed and how long it is; for watching. An editor may take one away at any moment."""
    found = {}
    for file in (file for path in paths for file in (path.rglob("*") if path.is_dir() else [path])):
        with suppress(OSError):
            status = file.stat()
            found[file] = (status.st_mtime_ns, status.st_size)
    return found
