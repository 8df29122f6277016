"""One thousand kills in a row: the pool still answers, memory and descriptors stay flat."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal

import pytest

from interpreters.core.engine import Limits, Script
from interpreters.core.errors import InternalError, LimitError
from interpreters.sandbox.pool import SandboxPool
from interpreters.sandbox.reputation import Reputations
from tests.interpreters.sandbox.surroundings import descriptors, nothing_left_behind, resident

SPINNER = {"spinner": "tests.interpreters.sandbox.spinner:SpinnerEngine"}
SCRIPTS = [Script(f"script {number}", "spinner", f"{number}") for number in range(2)]
KILLS = 1000
ROUND = 50
ATTEMPTS = 5
SHORT = Limits(seconds=0.02)
ROOM = 8 << 20


async def pid_of(pool: SandboxPool) -> int:
    """A worker's process. A call that got two workers in a row which had just been killed is asked again."""
    for _ in range(ATTEMPTS):
        with contextlib.suppress(InternalError):
            return int((await pool.call(SCRIPTS[0], "pid", [])).values[0])
    raise AssertionError(f"no answer in {ATTEMPTS} attempts")


async def kill_by_deadline(pool: SandboxPool) -> None:
    async def spin(script: Script) -> None:
        with pytest.raises(LimitError):
            await pool.call(script, "spin", [], limits=SHORT)

    await asyncio.gather(*map(spin, SCRIPTS))


async def kill_from_outside(pool: SandboxPool) -> None:
    for _ in range(2):
        with contextlib.suppress(ProcessLookupError):
            os.kill(await pid_of(pool), signal.SIGKILL)


async def test_a_thousand_kills_leave_no_trace() -> None:
    reputations = Reputations(losses=0, window=0)
    with nothing_left_behind():
        async with SandboxPool(2, engines=SPINNER, reputations=reputations, limits=Limits(seconds=20)) as pool:
            memory = files = rounds = 0
            while sum(pool.stats().kills.values()) < KILLS:
                kill = kill_by_deadline if rounds % 2 else kill_from_outside
                for _ in range(ROUND // 2):
                    await kill(pool)
                assert await pid_of(pool)
                rounds += 1
                if rounds == 2:
                    memory, files = resident(), len(descriptors())
            async with asyncio.timeout(20):
                while pool.stats().ready < 2:
                    await asyncio.sleep(0.01)
            assert resident() - memory < ROOM
            assert len(descriptors()) <= files + 4
            kills = pool.stats().kills
            assert set(kills) == {"time", "lost"}
            assert min(kills.values()) >= KILLS // 3
