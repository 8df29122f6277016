"""One thousand kills in a row: the pool still answers, memory and descriptors stay flat."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from interpreters.core.engine import Limits
from interpreters.core.errors import LimitError
from interpreters.sandbox.pool import SandboxPool
from interpreters.sandbox.standing import Standings
from tests.interpreters.sandbox.surroundings import PROBE, descriptors, nothing_left_behind, probe, resident

KILLS = 1000
ROUND = 50
SHORT = Limits(seconds=0.02)
ROOM = 8 << 20


async def kill_by_deadline(pool: SandboxPool) -> None:
    with pytest.raises(LimitError):
        await pool.call(probe("bad"), "spin", [], limits=SHORT)


async def kill_from_outside(pool: SandboxPool) -> None:
    os.kill(int((await pool.call(probe(), "pid", [])).printed), signal.SIGKILL)


async def test_a_thousand_kills_leave_no_trace() -> None:
    with nothing_left_behind():
        async with SandboxPool(2, engines=PROBE, standings=Standings(losses=0), limits=Limits(seconds=20)) as pool:
            memory = files = 0
            for number in range(0, KILLS, ROUND):
                kill = kill_by_deadline if number % (2 * ROUND) else kill_from_outside
                for _ in range(ROUND):
                    await kill(pool)
                assert (await pool.call(probe(), "echo", [b"1"])).values == (b"1",)
                if number == 2 * ROUND:
                    memory, files = resident(), len(descriptors())
            async with asyncio.timeout(20):
                while pool.stats().ready < 2:
                    await asyncio.sleep(0.01)
            assert sum(pool.stats().kills.values()) >= KILLS - 1
            assert resident() - memory < ROOM
            assert len(descriptors()) <= files + 4
