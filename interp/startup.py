"""Starting fast: a sandbox worker starts while the command is still being imported, and imports wait for nothing."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from typing import NoReturn

from interpreters.core.languages import LANGUAGES, LUA
from interpreters.sandbox import process

_VERBS = ("run", "test", "lint")  # those that ask a script whatever else they do
_started: list[process.WorkerProcess] = []


def start() -> None:
    """Start a worker if the verb on the command line will need one; then import what every verb needs."""
    gc.disable()  # nothing that imports leave behind is garbage; `interp.command` switches it on again
    if len(sys.argv) > 2 and sys.argv[1] in _VERBS and not {"-h", "--help"} & set(sys.argv):
        _started.append(process.start([LANGUAGES[LUA].engine.partition(":")[0]]))
    # msgspec takes typing's own names where typing_extensions is missing, which is twice as fast to import.
    hidden = "typing_extensions" not in sys.modules
    if hidden:
        sys.modules["typing_extensions"] = None  # type: ignore[assignment]
    import msgspec  # noqa: F401

    if hidden:
        del sys.modules["typing_extensions"]


def worker() -> process.WorkerProcess | None:
    """The worker that `start` started, once."""
    return _started.pop() if _started else None


def end(run: Callable[[], NoReturn]) -> NoReturn:
    """Run the command; a short one then ends at once, without taking apart everything that was imported."""
    try:
        run()
    except SystemExit as done:
        if sys.argv[1:2] != ["run"] or not isinstance(done.code, int):
            raise
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except OSError:
            raise done from None  # the reader is gone or the disk is full: Python's own ending tells
        os._exit(done.code)
