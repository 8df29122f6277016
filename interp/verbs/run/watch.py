"""`interp run --watch`: again whenever a file changes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import click

from interp.output.script_errors import error_text
from interp.output.terminal import erase_screen
from interpreters.core.errors import InterpError
from interpreters.files import Fingerprint, fingerprint


def run_again(once: Callable[[], int], places: list[Path]) -> None:
    while True:
        erase_screen()
        before = _below(places)
        try:
            once()
        except InterpError as error:
            click.echo(error_text(error), err=True)
        click.echo(click.style("watching; Ctrl-C ends it", dim=True), err=True)
        sys.stdout.flush()
        while _below(places) == before:
            time.sleep(0.2)


def _below(paths: list[Path]) -> Fingerprint:
    return fingerprint(file for path in paths for file in (path.rglob("*") if path.is_dir() else [path]))
