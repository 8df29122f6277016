"""Bindings in files, with a progress bar for large ones."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from estimator.accounting.audit.read_bindings import read_bindings, total_size
from estimator.accounting.audit.totals import Tally
from estimator.accounting.sources.object_stream import Progress
from estimator.quotas.objects import Quota, in_order
from interp.output.terminal import unguarded


def read_files(paths: Sequence[str], tally: Tally) -> list[Quota]:
    """Add them to the tally; the quotas among them."""
    with _progress_bar(total_size(paths)) as progress:
        return in_order(read_bindings(paths, tally, progress=progress).quotas)


@contextmanager
def _progress_bar(total: int | None) -> Iterator[Progress | None]:
    """A bar on standard error, only where a person looks at it."""
    from rich import progress
    from rich.console import Console

    console = Console(file=unguarded(sys.stderr))
    if not console.is_terminal:
        yield None
        return
    columns = (
        progress.BarColumn(),
        progress.DownloadColumn(),
        progress.TransferSpeedColumn(),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=console, transient=True) as shown:
        task = shown.add_task("reading", total=total)
        yield lambda step: shown.advance(task, step)
