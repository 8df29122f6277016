"""What the sandbox's tests share: the probe engine, calls to it, looks at pipelines and at what a front leaves."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from interpreters.core.engine import Outcome, Script
from interpreters.core.errors import InterpError
from interpreters.sandbox.pool import SandboxPool
from interpreters.sandbox.reputation import digest_of

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


def pipelines(pool: SandboxPool) -> list[int]:
    """How many calls each worker has in hand."""
    return sorted(len(worker.pipeline) for dispatch in pool._by_author.values() for worker in dispatch.pooled)


def pipelined(pool: SandboxPool) -> int:
    """How many calls workers have been sent and have not begun."""
    return sum(max(0, in_hand - 1) for in_hand in pipelines(pool))


async def eventually(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not holds():
            await asyncio.sleep(0.01)


async def make_fast(pool: SandboxPool, *names: str) -> None:
    """With every worker up, let these scripts answer once."""
    await eventually(lambda: pool.stats().ready == pool.size)
    for name in names:
        while not pool.reputations.of(digest_of(probe(name))).is_fast(now=0):  # on a busy machine more than one call
            await pool.call(probe(name), "echo", [b"0"])


def start(call: Awaitable[Outcome]) -> asyncio.Future[Outcome]:
    return asyncio.ensure_future(call)


def echoes(pool: SandboxPool, name: str, count: int) -> list[asyncio.Future[Outcome]]:
    return [start(pool.call(probe(name), "echo", [b"%d" % number])) for number in range(count)]


async def answers(calls: list[asyncio.Future[Outcome]]) -> list[int]:
    return [int((await call).values[0]) for call in calls]


async def error_of(call: asyncio.Future[Outcome]) -> InterpError:
    with pytest.raises(InterpError) as caught:
        await call
    return caught.value
