"""Calls laid ready behind the running one: whose answer is whose, and what happens to them when it goes wrong."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import time
from collections.abc import Awaitable, Callable

import pytest
import uvloop

from interpreters.core.engine import Limits, Outcome
from interpreters.core.errors import BusyError, InterpError, LimitError, QuarantinedError, ScriptError
from interpreters.sandbox.calls import Recycling, Task
from interpreters.sandbox.pool import SandboxPool
from interpreters.sandbox.standing import BRISK, EARNED, Standings, digest_of
from interpreters.sandbox.tray import DEPTH, SMALL, STALLED, Job, Tray
from tests.interpreters.sandbox.surroundings import PROBE, nothing_left_behind, probe

PATIENT = Limits(seconds=20)


def trays(pool: SandboxPool) -> list[int]:
    """How many calls each worker has in hand."""
    return sorted(len(seat.tray) for seat in pool._dispatch.crew.seats) if pool._dispatch else []


def laid(pool: SandboxPool) -> int:
    """How many calls lie ready in workers that have not begun them."""
    return sum(max(0, in_hand - 1) for in_hand in trays(pool))


async def eventually(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not holds():
            await asyncio.sleep(0.01)


async def make_brisk(pool: SandboxPool, *names: str) -> None:
    """With every worker up, let these scripts answer once."""
    await eventually(lambda: pool.stats().ready == pool.size)
    for name in names:
        while not pool.standings.brisk(digest_of(probe(name)), now=0):  # a busy machine may take more than one call
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


async def test_what_lies_behind_a_stalled_call_is_run_elsewhere() -> None:
    async with SandboxPool(2, engines=PROBE, limits=PATIENT) as pool:
        await make_brisk(pool, "a")
        stalled = [start(pool.call(probe("a"), "nap", [b"2"])), start(pool.call(probe("a"), "nap", [b"0.2"]))]
        behind = echoes(pool, "a", 8)
        await asyncio.sleep(0)
        assert laid(pool) == 8
        assert await answers(behind) == [*range(8)]
        assert not stalled[0].done()
        assert (await stalled[0]).values == (b"null",)
        assert await answers(echoes(pool, "a", 20)) == [*range(20)]  # the ghosts' answers went to nobody
        assert pool.stats().kills == {}


@pytest.mark.parametrize(
    ("act", "reason"), [("segfault", "crash"), ("exit", "crash"), ("NotAReply", "protocol"), ("TwoReplies", "protocol")]
)
async def test_a_call_that_loses_its_worker_fails_alone_and_is_blamed_alone(act: str, reason: str) -> None:
    with nothing_left_behind():
        async with SandboxPool(1, engines=PROBE, limits=PATIENT, standings=Standings(losses=1)) as pool:
            await make_brisk(pool, "bad", "good")
            bad = start(pool.call(probe("bad"), "NapThen", [b"0.01", b'"%s"' % act.encode()]))
            behind = echoes(pool, "good", 12)
            await asyncio.sleep(0)
            assert laid(pool) == DEPTH - 1
            assert type(await error_of(bad)) is ScriptError
            assert await answers(behind) == [*range(12)]
            assert pool.stats().kills == {reason: 1}
            assert [sentence.script for sentence in pool.stats().quarantined] == ["bad"]


async def test_a_worker_that_ran_out_of_memory_does_not_run_what_lay_ready() -> None:
    async with SandboxPool(1, engines=PROBE, limits=PATIENT) as pool:
        await make_brisk(pool, "bad", "good")
        bad = start(pool.call(probe("bad"), "NapThen", [b"0.01", b'"MemoryError"']))
        behind = echoes(pool, "good", 3)
        await asyncio.sleep(0)
        assert laid(pool) == 3
        assert isinstance(await error_of(bad), LimitError)
        assert await answers(behind) == [0, 1, 2]
        assert pool.stats().kills == {"memory": 1}


async def test_a_call_that_never_ends_delays_and_blames_nobody_who_lay_behind_it() -> None:
    async with SandboxPool(1, engines=PROBE, limits=Limits(seconds=0.3), standings=Standings(losses=1)) as pool:
        await make_brisk(pool, "bad", "good")
        bad = start(pool.call(probe("bad"), "spin", []))
        behind = echoes(pool, "good", 5)
        await asyncio.sleep(0)
        assert laid(pool) == 5
        assert str(await error_of(bad)) == "bad: in spin: did not finish within 0.3 s"
        assert await answers(behind) == [*range(5)]
        assert [sentence.script for sentence in pool.stats().quarantined] == ["bad"]


async def test_a_script_that_turns_bad_with_calls_lying_ready_leaves_the_others_their_worker() -> None:
    limits = Limits(seconds=0.5)
    async with SandboxPool(2, engines=PROBE, limits=limits, standings=Standings(losses=3)) as pool:
        await make_brisk(pool, "bad", "good")
        bad = [start(pool.call(probe("bad"), "spin", [])) for _ in range(2 * DEPTH)]
        await asyncio.sleep(0)
        assert laid(pool) == 2 * (DEPTH - 1)
        assert await answers(echoes(pool, "good", 20)) == [*range(20)]
        errors = [await error_of(call) for call in bad]
        assert {type(error) for error in errors} == {LimitError, QuarantinedError}
        assert await answers(echoes(pool, "good", 20)) == [*range(20)]


async def test_slow_failures_of_a_script_that_was_brisk_hold_nobody_up() -> None:
    async with SandboxPool(2, engines=PROBE, limits=PATIENT) as pool, asyncio.timeout(60):
        await make_brisk(pool, "bad", "good")
        bad = [start(pool.call(probe("bad"), "NapThen", [b"0.05", b'"ScriptError"'])) for _ in range(40)]
        await asyncio.sleep(0)
        assert laid(pool) == 2 * (DEPTH - 1)
        assert await answers(echoes(pool, "good", 1)) == [0]
        assert not all(call.done() for call in bad)
        assert {type(await error_of(call)) for call in bad} == {ScriptError}


async def test_what_was_taken_back_costs_its_worker_little_more_time() -> None:
    async with SandboxPool(2, engines=PROBE, limits=PATIENT) as pool:
        await make_brisk(pool, "bad", "good")
        bad = [start(pool.call(probe("bad"), "nap", [b"0.4"])) for _ in range(2 * DEPTH)]
        await asyncio.sleep(0)
        assert await answers(echoes(pool, "good", 1)) == [0]
        assert sum(call.done() for call in bad) <= 4  # those in front of it; not those that the trays once held
        await asyncio.gather(*bad)
        assert pool.stats().kills == {"cancelled": 2}


async def test_calls_whose_callers_left_do_not_hold_the_worker() -> None:
    async with SandboxPool(1, engines=PROBE, limits=PATIENT) as pool, asyncio.timeout(20):
        await make_brisk(pool, "a")
        front = start(pool.call(probe("a"), "nap", [b"0.02"]))
        behind = [start(pool.call(probe("a"), "nap", [b"15"])) for _ in range(DEPTH - 1)]
        await asyncio.sleep(0)
        assert laid(pool) == DEPTH - 1
        for call in behind:
            call.cancel()
        await front
        assert await answers(echoes(pool, "a", 3)) == [0, 1, 2]
        assert pool.stats().kills == {"cancelled": 1}


async def test_the_deadline_of_a_call_that_lay_ready_is_kept() -> None:
    async with SandboxPool(1, engines=PROBE, limits=Limits(seconds=1)) as pool:
        await make_brisk(pool, "bad", "good")
        bad = [start(pool.call(probe("bad"), "nap", [b"0.8"])) for _ in range(4)]
        deadline = asyncio.get_running_loop().time() + 1.5
        good = start(pool.call(probe("good"), "nap", [b"0.75"], deadline=deadline))
        await asyncio.sleep(0)
        assert laid(pool) == 4
        assert isinstance(await error_of(good), BusyError | LimitError)
        await asyncio.gather(*bad)


async def test_a_call_is_not_blamed_again_for_its_ghost() -> None:
    async with SandboxPool(2, engines=PROBE, limits=PATIENT, standings=Standings(losses=2)) as pool:
        await make_brisk(pool, "bad", "good")
        fronts = [start(pool.call(probe("good"), "nap", [b"0.2"])) for _ in range(2)]
        bad = start(pool.call(probe("bad"), "NotAReply", []))
        await asyncio.sleep(0)
        assert laid(pool) == 1
        assert type(await error_of(bad)) is ScriptError
        await asyncio.gather(*fronts)
        await eventually(lambda: pool.stats().kills == {"protocol": 2})
        assert pool.stats().quarantined == ()


async def test_what_a_spoilt_worker_sends_besides_is_nobodys() -> None:
    async with SandboxPool(1, engines=PROBE, limits=PATIENT, standings=Standings(losses=1)) as pool:
        await make_brisk(pool, "bad", "good")
        bad = start(pool.call(probe("bad"), "MemoryThenJunk", []))
        behind = echoes(pool, "good", 3)
        assert isinstance(await error_of(bad), LimitError)
        assert await answers(behind) == [0, 1, 2]
        assert (pool.stats().kills, pool.stats().quarantined) == ({"memory": 1}, ())


@pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def test_a_worker_killed_while_the_loop_was_busy_is_noticed_at_once(
    loop: Callable[[], asyncio.AbstractEventLoop],
) -> None:
    async def through_a_kill() -> list[bytes]:
        async with SandboxPool(1, engines=PROBE, limits=PATIENT, standings=Standings(losses=1)) as pool:
            await make_brisk(pool, "a", "b", "c")
            pid = int((await pool.call(probe("a"), "pid", [])).printed)
            calls = [
                start(pool.call(probe("a"), "echo", [b"1"])),
                start(pool.call(probe("b"), "nap", [b"0.5"])),
                *(start(pool.call(probe("c"), "echo", [b"3"])) for _ in range(3)),
            ]
            await asyncio.sleep(0)
            assert laid(pool) == 4
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
        await make_brisk(pool, "a")
        calls = echoes(pool, "a", 6)
        await asyncio.sleep(0)
        for gone in (0, 2, 5):
            calls[gone].cancel()
        assert await answers([calls[stays] for stays in (1, 3, 4)]) == [1, 3, 4]
        assert await answers(echoes(pool, "a", 3)) == [0, 1, 2]
        assert pool.stats().kills == {}


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


@pytest.mark.parametrize("seed", range(5))
async def test_everyone_gets_the_own_answer_whatever_happens_around(seed: int) -> None:
    chance = random.Random(seed)
    limits = Limits(seconds=2)
    pool = SandboxPool(2, engines=PROBE, limits=limits, max_waiting=1000, standings=Standings(losses=0))
    async with pool:
        names = [f"script {number}" for number in range(4)]
        await make_brisk(pool, *names)
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
