"""Calls pipelined when something goes wrong: the call in front stalls, fails or kills, or callers leave."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import time
from collections.abc import Callable

import pytest
import uvloop

from interpreters.core.engine import Limits, Outcome
from interpreters.core.errors import BusyError, LimitError, QuarantinedError, ScriptError
from interpreters.sandbox.pipeline import DEPTH, STALLED
from interpreters.sandbox.pool import SandboxPool
from interpreters.sandbox.reputation import Reputations
from tests.interpreters.sandbox.surroundings import (
    PROBE,
    answers,
    echoes,
    error_of,
    eventually,
    make_fast,
    nothing_left_behind,
    pipelined,
    probe,
    start,
)

PATIENT = Limits(seconds=20)


async def test_what_lies_behind_a_stalled_call_is_run_elsewhere() -> None:
    async with SandboxPool(2, engines=PROBE, limits=PATIENT) as pool:
        await make_fast(pool, "a")
        stalled = [start(pool.call(probe("a"), "nap", [b"2"])), start(pool.call(probe("a"), "nap", [b"0.2"]))]
        behind = echoes(pool, "a", 8)
        await asyncio.sleep(0)
        assert pipelined(pool) == 8
        assert await answers(behind) == [*range(8)]
        assert not stalled[0].done()
        assert (await stalled[0]).values == (b"null",)
        assert await answers(echoes(pool, "a", 20)) == [*range(20)]  # the placeholders' answers went to nobody
        assert pool.stats().kills == {}


@pytest.mark.parametrize(
    ("act", "reason"), [("segfault", "crash"), ("exit", "crash"), ("NotAReply", "protocol"), ("TwoReplies", "protocol")]
)
async def test_a_call_that_loses_its_worker_fails_alone_and_is_blamed_alone(act: str, reason: str) -> None:
    with nothing_left_behind():
        async with SandboxPool(1, engines=PROBE, limits=PATIENT, reputations=Reputations(losses=1)) as pool:
            await make_fast(pool, "bad", "good")
            bad = start(pool.call(probe("bad"), "NapThen", [b"0.01", b'"%s"' % act.encode()]))
            behind = echoes(pool, "good", 12)
            await asyncio.sleep(0)
            assert pipelined(pool) == DEPTH - 1
            assert type(await error_of(bad)) is ScriptError
            assert await answers(behind) == [*range(12)]
            assert pool.stats().kills == {reason: 2}  # the second worker had served nobody: now it is proven
            assert [quarantine.script for quarantine in pool.stats().quarantined] == ["bad"]


async def test_a_worker_that_ran_out_of_memory_does_not_run_what_lay_ready() -> None:
    async with SandboxPool(1, engines=PROBE, limits=PATIENT) as pool:
        await make_fast(pool, "bad", "good")
        bad = start(pool.call(probe("bad"), "NapThen", [b"0.01", b'"MemoryError"']))
        behind = echoes(pool, "good", 3)
        await asyncio.sleep(0)
        assert pipelined(pool) == 3
        assert isinstance(await error_of(bad), LimitError)
        assert await answers(behind) == [0, 1, 2]
        assert pool.stats().kills == {"memory": 2}


async def test_a_call_that_never_ends_delays_and_blames_no_call_behind_it() -> None:
    async with SandboxPool(1, engines=PROBE, limits=Limits(seconds=0.3), reputations=Reputations(losses=1)) as pool:
        await make_fast(pool, "bad", "good")
        bad = start(pool.call(probe("bad"), "spin", []))
        behind = echoes(pool, "good", 5)
        await asyncio.sleep(0)
        assert pipelined(pool) == 5
        assert str(await error_of(bad)) == "bad: in spin: did not finish within 0.3 s"
        assert await answers(behind) == [*range(5)]
        assert [quarantine.script for quarantine in pool.stats().quarantined] == ["bad"]


async def test_a_script_that_turns_bad_with_calls_lying_ready_leaves_the_others_their_worker() -> None:
    limits = Limits(seconds=0.5)
    async with SandboxPool(2, engines=PROBE, limits=limits, reputations=Reputations(losses=3)) as pool:
        await make_fast(pool, "bad", "good")
        bad = [start(pool.call(probe("bad"), "spin", [])) for _ in range(2 * DEPTH)]
        await asyncio.sleep(0)
        assert pipelined(pool) == 2 * (DEPTH - 1)
        assert await answers(echoes(pool, "good", 20)) == [*range(20)]
        errors = [await error_of(call) for call in bad]
        assert {type(error) for error in errors} == {LimitError, QuarantinedError}
        assert await answers(echoes(pool, "good", 20)) == [*range(20)]


async def test_slow_failures_of_a_script_that_was_fast_delay_no_other() -> None:
    async with SandboxPool(2, engines=PROBE, limits=PATIENT) as pool, asyncio.timeout(60):
        await make_fast(pool, "bad", "good")
        bad = [start(pool.call(probe("bad"), "NapThen", [b"0.05", b'"ScriptError"'])) for _ in range(40)]
        await asyncio.sleep(0)
        assert pipelined(pool) == 2 * (DEPTH - 1)
        assert await answers(echoes(pool, "good", 1)) == [0]
        assert not all(call.done() for call in bad)
        assert {type(await error_of(call)) for call in bad} == {ScriptError}


async def test_what_was_taken_back_costs_its_worker_little_more_time() -> None:
    async with SandboxPool(2, engines=PROBE, limits=PATIENT) as pool:
        await make_fast(pool, "bad", "good")
        bad = [start(pool.call(probe("bad"), "nap", [b"0.4"])) for _ in range(2 * DEPTH)]
        await asyncio.sleep(0)
        assert await answers(echoes(pool, "good", 1)) == [0]
        assert sum(call.done() for call in bad) <= 4  # those in front of it; not those that the pipelines once held
        await asyncio.gather(*bad)
        assert pool.stats().kills == {"cancelled": 2}


async def test_calls_whose_callers_left_do_not_hold_the_worker() -> None:
    async with SandboxPool(1, engines=PROBE, limits=PATIENT) as pool, asyncio.timeout(20):
        await make_fast(pool, "a")
        front = start(pool.call(probe("a"), "nap", [b"0.02"]))
        behind = [start(pool.call(probe("a"), "nap", [b"15"])) for _ in range(DEPTH - 1)]
        await asyncio.sleep(0)
        assert pipelined(pool) == DEPTH - 1
        for call in behind:
            call.cancel()
        await front
        assert await answers(echoes(pool, "a", 3)) == [0, 1, 2]
        assert pool.stats().kills == {"cancelled": 1}


async def test_the_deadline_of_a_call_that_lay_ready_is_kept() -> None:
    async with SandboxPool(1, engines=PROBE, limits=Limits(seconds=1)) as pool:
        await make_fast(pool, "bad", "good")
        bad = [start(pool.call(probe("bad"), "nap", [b"0.8"])) for _ in range(4)]
        deadline = asyncio.get_running_loop().time() + 1.5
        good = start(pool.call(probe("good"), "nap", [b"0.75"], deadline=deadline))
        await asyncio.sleep(0)
        assert pipelined(pool) == 4
        assert isinstance(await error_of(good), BusyError | LimitError)
        await asyncio.gather(*bad)


async def test_a_call_is_not_blamed_again_for_its_placeholder() -> None:
    async with SandboxPool(2, engines=PROBE, limits=PATIENT, reputations=Reputations(losses=2)) as pool:
        await make_fast(pool, "bad", "good")
        fronts = [start(pool.call(probe("good"), "nap", [b"0.2"])) for _ in range(2)]
        bad = start(pool.call(probe("bad"), "NotAReply", []))
        await asyncio.sleep(0)
        assert pipelined(pool) == 1
        assert type(await error_of(bad)) is ScriptError
        await asyncio.gather(*fronts)
        await eventually(lambda: pool.stats().kills == {"protocol": 3})
        assert pool.stats().quarantined == ()


async def test_what_a_spoilt_worker_sends_besides_is_nobodys() -> None:
    async with SandboxPool(1, engines=PROBE, limits=PATIENT, reputations=Reputations(losses=1)) as pool:
        await make_fast(pool, "bad", "good")
        bad = start(pool.call(probe("bad"), "MemoryThenJunk", []))
        behind = echoes(pool, "good", 3)
        assert type(await error_of(bad)) is ScriptError  # its second worker had no other call
        assert await answers(behind) == [0, 1, 2]
        assert pool.stats().kills == {"memory": 1, "protocol": 1}
        assert [quarantine.script for quarantine in pool.stats().quarantined] == ["bad"]


@pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def test_a_worker_killed_while_the_loop_was_busy_is_noticed_at_once(
    loop: Callable[[], asyncio.AbstractEventLoop],
) -> None:
    async def through_a_kill() -> list[bytes]:
        async with SandboxPool(1, engines=PROBE, limits=PATIENT, reputations=Reputations(losses=1)) as pool:
            await make_fast(pool, "a", "b", "c")
            pid = int((await pool.call(probe("a"), "pid", [])).printed)
            calls = [
                start(pool.call(probe("a"), "echo", [b"1"])),
                start(pool.call(probe("b"), "nap", [b"0.5"])),
                *(start(pool.call(probe("c"), "echo", [b"3"])) for _ in range(3)),
            ]
            await asyncio.sleep(0)
            assert pipelined(pool) == 4
            time.sleep(0.1)  # the loop is busy with something else while answer and death arrive
            os.kill(pid, signal.SIGKILL)
            time.sleep(0.1)
            values = [(await call).values[0] for call in calls]
            assert (pool.stats().kills, pool.stats().retries) == ({"lost": 1}, 1)
            return values

    with asyncio.Runner(loop_factory=loop) as runner:
        assert runner.run(through_a_kill()) == [b"1", b"null", b"3", b"3", b"3"]


async def test_a_caller_who_leaves_takes_no_answer_from_the_others() -> None:
    async with SandboxPool(1, engines=PROBE, limits=PATIENT) as pool:
        await make_fast(pool, "a")
        calls = echoes(pool, "a", 6)
        await asyncio.sleep(0)
        for gone in (0, 2, 5):
            calls[gone].cancel()
        assert await answers([calls[stays] for stays in (1, 3, 4)]) == [1, 3, 4]
        assert await answers(echoes(pool, "a", 3)) == [0, 1, 2]
        assert pool.stats().kills == {}


@pytest.mark.parametrize("seed", range(5))
async def test_everyone_gets_the_own_answer_whatever_happens_around(seed: int) -> None:
    chance = random.Random(seed)
    limits = Limits(seconds=2)
    pool = SandboxPool(2, engines=PROBE, limits=limits, max_waiting=1000, reputations=Reputations(losses=0))
    async with pool:
        names = [f"script {number}" for number in range(4)]
        await make_fast(pool, *names)
        wanted: dict[asyncio.Future[Outcome], int] = {}
        others: list[asyncio.Future[Outcome]] = []
        for number in range(400):
            script = probe(chance.choice(names))
            match chance.randrange(40):
                case 0:
                    others.append(start(pool.call(script, "NapThen", [b"0.01", b'"segfault"'])))
                case 1:
                    others.append(start(pool.call(script, "nap", [b"%f" % (2 * STALLED)])))
                case 2:
                    others.append(start(pool.call(script, "MemoryError", [])))
                case 3 if wanted:
                    gone = chance.choice(list(wanted))
                    gone.cancel()
                    del wanted[gone]
                case _:
                    wanted[start(pool.call(script, "echo", [b"%d" % number]))] = number
            if number % 20 == 19:
                await asyncio.sleep(chance.choice([0, 0.001, 0.02]))
        assert await answers(list(wanted)) == list(wanted.values())
        await asyncio.gather(*others, return_exceptions=True)
