"""Calls laid ready behind the running one: which may, where, how many, and whose answer is whose."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from interpreters.core.engine import Limits
from interpreters.sandbox.calls import Recycling, Task
from interpreters.sandbox.pool import SandboxPool
from interpreters.sandbox.standing import BRISK, EARNED, Standings, digest_of
from interpreters.sandbox.tray import DEPTH, SMALL, STALLED, Job, Tray
from tests.interpreters.sandbox.surroundings import (
    PROBE,
    answers,
    echoes,
    eventually,
    laid,
    make_brisk,
    nothing_left_behind,
    probe,
    start,
    trays,
)

PATIENT = Limits(seconds=20)


async def test_calls_of_brisk_scripts_lie_ready_up_to_a_depth_and_each_gets_its_own_answer() -> None:
    async with SandboxPool(1, engines=PROBE, limits=PATIENT) as pool:
        await make_brisk(pool, "a", "b")
        calls = [*echoes(pool, "a", 30), *echoes(pool, "b", 30)]
        await asyncio.sleep(0)
        assert laid(pool) == DEPTH - 1
        assert pool.stats().waiting == 59
        assert await answers(calls) == [*range(30), *range(30)]
        assert laid(pool) == pool.stats().waiting == 0


async def test_calls_lie_ready_with_the_least_loaded_worker() -> None:
    async with SandboxPool(2, engines=PROBE, limits=PATIENT) as pool:
        await make_brisk(pool, "a")
        calls = echoes(pool, "a", 6)
        await asyncio.sleep(0)
        assert trays(pool) == [3, 3]
        assert await answers(calls) == [*range(6)]


NOT_LAID = {
    "its script is new": ("new", Limits(seconds=20), None, b"1"),
    "its limits are its own": ("a", Limits(seconds=19), None, b"1"),
    "its deadline is near": ("a", PATIENT, 19.0, b"1"),
    "it is large": ("a", PATIENT, None, b"1" * (SMALL + 1)),
}


@pytest.mark.parametrize("why", NOT_LAID)
async def test_a_call_does_not_lie_ready_when(why: str) -> None:
    name, limits, seconds, argument = NOT_LAID[why]
    async with SandboxPool(1, engines=PROBE, limits=PATIENT) as pool:
        await make_brisk(pool, "a", "b")
        front = start(pool.call(probe("b"), "nap", [b"0.02"]))
        deadline = None if seconds is None else asyncio.get_running_loop().time() + seconds
        call = start(pool.call(probe(name), "echo", [argument], limits=limits, deadline=deadline))
        behind = echoes(pool, "b", 2)
        await asyncio.sleep(0)
        assert (laid(pool), pool.stats().waiting) == (0, 3)  # and nothing is laid past it
        assert (await call).values == (argument,)
        assert await answers(behind) == [0, 1]
        await front


async def test_nothing_lies_ready_behind_a_script_that_is_not_brisk() -> None:
    async with SandboxPool(1, engines=PROBE, limits=PATIENT) as pool:
        await make_brisk(pool, "a", "slow")
        await pool.call(probe("slow"), "nap", [b"%f" % (2 * BRISK)])
        front = start(pool.call(probe("slow"), "echo", [b"1"]))
        behind = echoes(pool, "a", 3)
        await asyncio.sleep(0)
        assert laid(pool) == 0
        assert await answers([front, *behind]) == [1, 0, 1, 2]


async def test_a_new_script_gets_its_turn_in_a_stream_of_brisk_calls() -> None:
    async with SandboxPool(1, engines=PROBE, limits=PATIENT) as pool:
        await make_brisk(pool, "a")
        over = asyncio.Event()

        async def stream() -> int:
            count = 0
            while not over.is_set():
                await pool.call(probe("a"), "echo", [b"1"])
                count += 1
            return count

        streams = [asyncio.ensure_future(stream()) for _ in range(2 * DEPTH)]
        await asyncio.sleep(0.05)
        assert (await pool.call(probe("new"), "nap", [b"0"])).values == (b"null",)
        over.set()
        assert all(count > 1 for count in await asyncio.gather(*streams))


async def test_recycling_loses_nothing_that_lies_ready() -> None:
    with nothing_left_behind():
        async with SandboxPool(2, engines=PROBE, limits=PATIENT, recycling=Recycling(calls=20)) as pool:
            await make_brisk(pool, "a")
            for _ in range(20):
                assert await answers(echoes(pool, "a", 30)) == [*range(30)]
                await asyncio.sleep(0.01)
            await eventually(lambda: pool.stats().recycled >= 2)
            assert pool.stats().kills == {}


def job(brisk: bool = True) -> Job:
    made = Job(Task(probe(), "echo", [b"1"], True, PATIENT, None), asyncio.get_running_loop().create_future())
    made.brisk = brisk
    return made


async def test_a_tray_has_room_behind_a_brisk_call_that_has_just_begun() -> None:
    tray = Tray()
    assert not tray.has_room(now=0)  # it is idle: nothing is laid ready there
    tray.put(job())
    assert tray.has_room(now=STALLED / 2)
    assert not tray.has_room(now=STALLED)
    for _ in range(DEPTH - 1):
        assert tray.has_room(now=0)
        tray.put(job())
    assert not tray.has_room(now=0)
    slow = Tray()
    slow.put(job(brisk=False))
    assert not slow.has_room(now=0)


async def test_what_is_taken_back_leaves_ghosts_in_its_place() -> None:
    tray, jobs = Tray(), [job() for _ in range(4)]
    for one in jobs:
        tray.put(one)
    assert tray.take_back() == jobs[1:]
    assert tray.finish() is jobs[0]
    assert [ghost.future.cancelled() for ghost in tray] == [True] * 3
    assert [one.future.done() for one in jobs] == [False] * 4


def earn(standings: Standings, digest: str, answers: int = EARNED) -> None:
    for _ in range(answers):
        standings.prove(digest, BRISK)


LOSES_THE_NAME: dict[str, Callable[[Standings, str], None]] = {
    "a slow answer": lambda standings, digest: standings.prove(digest, 2 * BRISK),
    "an error": lambda standings, digest: standings.prove(digest),
    "a stall": lambda standings, digest: standings.dawdle(digest),
}


@pytest.mark.parametrize("why", LOSES_THE_NAME)
def test_a_script_is_brisk_after_many_answers_at_once_and_until(why: str) -> None:
    standings, digest = Standings(), digest_of(probe())
    earn(standings, digest, EARNED - 1)
    assert not standings.brisk(digest, now=0)
    earn(standings, digest, 1)
    assert standings.brisk(digest, now=0)
    LOSES_THE_NAME[why](standings, digest)
    assert not standings.brisk(digest, now=0)
    earn(standings, digest)
    assert standings.brisk(digest, now=0)


def test_a_suspect_is_not_brisk_however_fast_it_answers() -> None:
    standings, digest = Standings(window=100), digest_of(probe())
    standings.strike(digest, now=0)
    earn(standings, digest)
    assert not standings.brisk(digest, now=50)
    assert standings.brisk(digest, now=101)
