"""A sandbox worker that starts while the command is still being imported; together they take no longer than one."""

from __future__ import annotations

import sys

from interpreters.sandbox import process

_VERBS = ("run", "test", "lint")  # those that ask a script whatever else they do
_started: list[process.WorkerProcess] = []


def start() -> None:
    """Start a worker if the verb on the command line will need one."""
    if len(sys.argv) > 2 and sys.argv[1] in _VERBS and not {"-h", "--help"} & set(sys.argv):
        _started.append(process.start(["interpreters.lua.engine"]))


def worker() -> process.WorkerProcess | None:
    """The worker started early, once."""
    return _started.pop() if _started else None
