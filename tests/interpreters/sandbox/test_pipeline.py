"""Calls pipelined behind the running one: which may, where, how many, and whose answer is whose."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from interpreters.core.engine import Limits
from interpreters.sandbox.calls import Recycling, Task
from interpreters.sandbox.pipeline import DEPTH, SMALL, STALLED, Job, Pipeline
from interpreters.sandbox.pool import SandboxPool
from interpreters.sandbox.reputation import FAST_ANSWERS, FAST_SECONDS, Reputation, Reputations
from tests.interpreters.sandbox.surroundings import (
    PROBE,
    answers,
    echoes,
    eventually,
    make_fast,
    nothing_left_behind,
    pipelined,
    pipelines,
    probe,
    start,
)

PATIENT = Limits(seconds=20)


async def test_calls_of_fast_scripts_are_pipelined_up_to_a_depth_and_each_gets_its_own_answer() -> None:
    async with SandboxPool(1, engines=PROBE, limits=PATIENT) as pool:
        await make_fast(pool, "a", "b")
        calls = [*echoes(pool, "a", 30), *echoes(pool, "b", 30)]
        await asyncio.sleep(0)
        assert pipelined(pool) == DEPTH - 1
        assert pool.stats().waiting == 59
        assert await answers(calls) == [*range(30), *range(30)]
        assert pipelined(pool) == pool.stats().waiting == 0


async def test_calls_lie_ready_with_the_least_loaded_worker() -> None:
    async with SandboxPool(2, engines=PROBE, limits=PATIENT) as pool:
        await make_fast(pool, "a")
        calls = echoes(pool, "a", 6)
        await asyncio.sleep(0)
        assert pipelines(pool) == [3, 3]
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
        await make_fast(pool, "a", "b")
        front = start(pool.call(probe("b"), "nap", [b"0.02"]))
        deadline = None if seconds is None else asyncio.get_running_loop().time() + seconds
        call = start(pool.call(probe(name), "echo", [argument], limits=limits, deadline=deadline))
        behind = echoes(pool, "b", 2)
        await asyncio.sleep(0)
        assert (pipelined(pool), pool.stats().waiting) == (0, 3)  # and nothing is pipelined past it
        assert (await call).values == (argument,)
        assert await answers(behind) == [0, 1]
        await front


async def test_nothing_is_pipelined_behind_a_script_that_is_not_fast() -> None:
    async with SandboxPool(1, engines=PROBE, limits=PATIENT) as pool:
        await make_fast(pool, "a", "slow")
        await pool.call(probe("slow"), "nap", [b"%f" % (2 * FAST_SECONDS)])
        front = start(pool.call(probe("slow"), "echo", [b"1"]))
        behind = echoes(pool, "a", 3)
        await asyncio.sleep(0)
        assert pipelined(pool) == 0
        assert await answers([front, *behind]) == [1, 0, 1, 2]


async def test_a_new_script_gets_its_turn_in_a_stream_of_fast_calls() -> None:
    async with SandboxPool(1, engines=PROBE, limits=PATIENT) as pool:
        await make_fast(pool, "a")
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
            await make_fast(pool, "a")
            for _ in range(20):
                assert await answers(echoes(pool, "a", 30)) == [*range(30)]
                await asyncio.sleep(0.01)
            await eventually(lambda: pool.stats().recycled >= 2)
            assert pool.stats().kills == {}


def job(fast: bool = True) -> Job:
    task = Task(probe(), "echo", [b"1"], True, PATIENT, None)
    return Job(task, Reputation(), "digest", 1, asyncio.get_running_loop().create_future(), fast=fast)


async def test_a_pipeline_has_room_behind_a_fast_call_that_has_just_begun() -> None:
    pipeline = Pipeline()
    assert not pipeline.has_room(now=0)  # it is idle: nothing is pipelined there
    pipeline.append(job())
    assert pipeline.has_room(now=STALLED / 2)
    assert not pipeline.has_room(now=STALLED)
    for _ in range(DEPTH - 1):
        assert pipeline.has_room(now=0)
        pipeline.append(job())
    assert not pipeline.has_room(now=0)
    slow = Pipeline()
    slow.append(job(fast=False))
    assert not slow.has_room(now=0)


async def test_what_is_taken_back_leaves_placeholders() -> None:
    pipeline, jobs = Pipeline(), [job() for _ in range(4)]
    for one in jobs:
        pipeline.append(one)
    assert pipeline.take_back() == jobs[1:]
    assert pipeline.popleft() is jobs[0]
    assert [placeholder.future.cancelled() for placeholder in pipeline] == [True] * 3
    assert [one.future.done() for one in jobs] == [False] * 4


def earn(reputation: Reputation, answers: int = FAST_ANSWERS) -> None:
    for _ in range(answers):
        reputation.note_reply(FAST_SECONDS)


NO_LONGER_FAST: dict[str, Callable[[Reputation], None]] = {
    "a slow answer": lambda reputation: reputation.note_reply(2 * FAST_SECONDS),
    "an error": lambda reputation: reputation.note_reply(),
    "its time is up": lambda reputation: Reputations(window=-1).make_suspect(reputation, now=0),
}


@pytest.mark.parametrize("why", NO_LONGER_FAST)
def test_a_script_is_fast_after_many_fast_answers_and_until(why: str) -> None:
    reputation = Reputation()
    earn(reputation, FAST_ANSWERS - 1)
    assert not reputation.is_fast(now=0)
    earn(reputation, 1)
    assert reputation.is_fast(now=0)
    NO_LONGER_FAST[why](reputation)
    assert not reputation.is_fast(now=0)
    earn(reputation)
    assert reputation.is_fast(now=0)


def test_a_suspect_does_not_count_as_fast_however_fast_it_answers() -> None:
    reputation = Reputation()
    Reputations(window=100).make_suspect(reputation, now=0)
    earn(reputation)
    assert not reputation.is_fast(now=50)
    assert reputation.is_fast(now=101)
