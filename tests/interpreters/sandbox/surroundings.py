"""What the sandbox's tests share: the probe engine's name, and a look at what a front leaves behind."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from interpreters.core.engine import Script

PROBE = {"probe": "tests.interpreters.sandbox.probe:ProbeEngine"}


def probe(name: str = "good") -> Script:
    return Script(name, "probe", f"text of {name}")


def children() -> set[int]:
    """Processes that this one started and has not collected."""
    tasks = Path("/proc/self/task").glob("*/children")
    return {int(pid) for task in tasks for pid in task.read_text().split()}


def descriptors() -> set[str]:
    return set(os.listdir("/proc/self/fd"))  # noqa: PTH208 - names are wanted


def resident() -> int:
    """Bytes of memory this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


@contextmanager
def nothing_left_behind() -> Iterator[None]:
    """No process and no descriptor more than before."""
    processes, files = children(), len(descriptors())
    yield
    assert children() <= processes
    assert len(descriptors()) <= files
