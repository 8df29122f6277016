"""What the sandbox itself costs: round trips with a script that does nothing, and a worker's start."""

from __future__ import annotations

import asyncio
import resource
import statistics
import time
from collections.abc import Iterable
from pathlib import Path

import uvloop

from interpreters.core.engine import Script
from interpreters.sandbox.pool import SandboxPool
from interpreters.sandbox.runner import SandboxRunner

SCRIPT = Script("nothing.lua", "lua", "function GetReplicas(object) return 1 end")
LANGUAGE = {"lua": "interpreters.lua.engine:LuaEngine"}
ARGUMENTS = [b"{}"]
CALLS = 4000

Row = tuple[str, float, str, float | None]


def run() -> Iterable[Row]:
    """Rows of what, value, unit, budget."""
    yield "worker start to first answer, Lua", _start(), "ms", None
    yield "blocking front, one after the other", _blocking(), "µs", 150.0
    for clients in (1, 8):
        overhead, rate = uvloop.run(_pool(clients))
        yield f"pool of 2, {clients} at a time, median round trip", overhead, "µs", 150.0 if clients == 1 else None
        yield f"pool of 2, {clients} at a time", rate, "calls/s", None
    for isolated in (False, True):
        rate, resident = uvloop.run(_authors(isolated))
        sharing = "with workers of their own" if isolated else "sharing workers"
        yield f"three authors {sharing}, 6 at a time", rate, "calls/s", None
        yield f"three authors {sharing}, resident memory of all workers", resident, "MiB", None


def _start() -> float:
    """Median of a few, in milliseconds."""
    samples = []
    for _ in range(9):
        started = time.perf_counter()
        with SandboxRunner(engines=LANGUAGE) as runner:
            runner.call(SCRIPT, "GetReplicas", ARGUMENTS)
            samples.append(time.perf_counter() - started)
    return statistics.median(samples) * 1e3


def _blocking() -> float:
    samples = []
    with SandboxRunner(engines=LANGUAGE) as runner:
        for _ in range(CALLS):
            started = time.perf_counter()
            runner.call(SCRIPT, "GetReplicas", ARGUMENTS, reads_only=True)
            samples.append(time.perf_counter() - started)
    return statistics.median(samples) * 1e6


async def _authors(isolated: bool) -> tuple[float, float]:
    """Calls a second of three authors with two workers each or together, and the memory of the workers."""
    scripts = [Script(SCRIPT.name, SCRIPT.language, SCRIPT.text, author) for author in ("a", "b", "c")]

    async def client(pool: SandboxPool, script: Script) -> None:
        for _ in range(CALLS // 6):
            await pool.call(script, "GetReplicas", ARGUMENTS, reads_only=True)

    async with SandboxPool(2, authors=[script.author for script in scripts], isolated=isolated) as pool:
        await asyncio.gather(*(pool.functions(script) for script in scripts))
        while pool.stats().starting:
            await asyncio.sleep(0.01)
        started = time.perf_counter()
        await asyncio.gather(*(client(pool, script) for script in scripts for _ in range(2)))
        return 6 * (CALLS // 6) / (time.perf_counter() - started), sum(map(_resident, _children())) / 1024**2


def _children() -> list[int]:
    return [int(pid) for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()]


def _resident(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()


async def _pool(clients: int) -> tuple[float, float]:
    """Median round trip in microseconds, and calls a second."""
    samples: list[float] = []

    async def client(pool: SandboxPool) -> None:
        for _ in range(CALLS // clients):
            started = time.perf_counter()
            await pool.call(SCRIPT, "GetReplicas", ARGUMENTS, reads_only=True)
            samples.append(time.perf_counter() - started)

    async with SandboxPool(2, engines=LANGUAGE) as pool:
        await pool.functions(SCRIPT)
        started = time.perf_counter()
        await asyncio.gather(*(client(pool) for _ in range(clients)))
        elapsed = time.perf_counter() - started
    return statistics.median(samples) * 1e6, len(samples) / elapsed
