"""The asyncio front: calls, waiting, cancelling, deaths, recycling, quarantine."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Awaitable

import pytest
import uvloop

from interpreters.core.engine import Limits, Outcome, Script
from interpreters.core.errors import (
    BusyError,
    InternalError,
    InterpError,
    LimitError,
    QuarantinedError,
    ReplyError,
    ScriptError,
    ScriptSyntaxError,
)
from interpreters.sandbox.calls import Recycling
from interpreters.sandbox.pool import SandboxPool
from interpreters.sandbox.reputation import Reputations
from tests.interpreters.sandbox.surroundings import PROBE, eventually, nothing_left_behind, probe

PATIENT = Limits(seconds=20)  # a busy machine is no fault
QUICK = Limits(seconds=0.3)


async def pid_of(pool: SandboxPool, script: Script | None = None) -> int:
    return int((await pool.call(script or probe(), "pid", [])).printed)


async def outcome_or_error(call: Awaitable[Outcome]) -> Outcome | InterpError:
    try:
        return await call
    except InterpError as error:
        return error


async def test_a_call_brings_back_values_prints_time_and_memory() -> None:
    with nothing_left_behind():
        async with SandboxPool(1, engines=PROBE) as pool:
            outcome = await pool.call(probe("s"), "echo", [b'{"a":1}', b"2"])
            assert outcome.values == (b'{"a":1}', b"2")
            assert outcome.printed == "s"
            assert 0 < outcome.seconds < 1
            assert outcome.memory >= 0
            assert "echo" in await pool.functions(probe())


async def test_large_arguments_and_results_pass_through() -> None:
    async with SandboxPool(1, engines=PROBE, limits=Limits(output=8 << 20, seconds=10)) as pool:
        large = b'"' + b"x" * (5 << 20) + b'"'
        assert (await pool.call(probe(), "echo", [large])).values == (large,)


FAULTS = {
    "ScriptError": (ScriptError, "s:3: in F: bad"),
    "ScriptSyntaxError": (ScriptSyntaxError, "s:1: in ScriptSyntaxError: no"),
    "ReplyError": (ReplyError, "s: in F: components[0].name: is missing"),
    "LimitError": (LimitError, "fault: in LimitError: too deep"),
    "EngineBug": (InternalError, "fault: in EngineBug: ZeroDivisionError: division by zero"),
    "MemoryError": (LimitError, "fault: in MemoryError: not enough memory"),
    "BrokenText": (InternalError, "fault: in BrokenText: the engine returned text that is not Unicode"),
    "spin": (LimitError, "fault: in spin: did not finish within 0.3 s"),
    "sleep": (LimitError, "fault: in sleep: did not finish within 0.3 s"),
    "GoOutOfMemory": (LimitError, "fault: in GoOutOfMemory: used more memory than its worker may have"),
    "NoRoomForAStack": (LimitError, "fault: in NoRoomForAStack: used more memory than its worker may have"),
    "abort": (ScriptError, "fault: in abort: its worker crashed with SIGABRT"),
    "segfault": (ScriptError, "fault: in segfault: its worker crashed with SIGSEGV"),
    "exit": (ScriptError, "fault: in exit: its worker ended with status 7"),
    "crowd": (ScriptError, "fault: in crowd: its worker started more than 64 threads and was killed"),
    "KillItself": (InternalError, "fault: in KillItself: its workers were killed from outside, twice"),
    "HangUp": (InternalError, "fault: in HangUp: its workers were killed from outside, twice"),
    "HugeFrame": (
        ScriptError,
        "fault: in HugeFrame: its worker sent a reply larger than the call allows and was stopped",
    ),
    "NotAReply": (ScriptError, "fault: in NotAReply: its worker sent a frame that is not a reply and was stopped"),
    "DeepFrame": (ScriptError, "fault: in DeepFrame: its worker sent a frame that is not a reply and was stopped"),
    "ReadyAgain": (ScriptError, "fault: in ReadyAgain: its worker sent a reply to something else and was stopped"),
    "NamesInstead": (ScriptError, "fault: in NamesInstead: its worker sent a reply to something else and was stopped"),
    "LongPrint": (
        ScriptError,
        "fault: in LongPrint: its worker sent more printed text than the call allows and was stopped",
    ),
    **{
        act: (ScriptError, f"fault: in {act}: its worker sent a frame that is not a reply and was stopped")
        for act in (
            "NoNumberOfSeconds", "EndlessSeconds", "NegativeMemory", "ManyValues", "LargeFailure", "LongNames",
            "ManyFrames", "HugeLine", "FalseQuarantine", "WrongTypes",
        )
    },
}  # fmt: skip


ENDLESS = {"spin", "sleep"}


@pytest.mark.parametrize("function", FAULTS)
async def test_a_fault_is_one_stable_line_and_the_next_call_is_answered(function: str) -> None:
    kind, text = FAULTS[function]
    with nothing_left_behind():
        async with SandboxPool(1, engines=PROBE, limits=PATIENT) as pool:
            with pytest.raises(kind) as caught:
                await pool.call(probe("fault"), function, [], limits=QUICK if function in ENDLESS else PATIENT)
            assert type(caught.value) is kind
            assert str(caught.value) == text
            assert (await pool.call(probe(), "echo", [b"1"])).values == (b"1",)


async def test_memory_beyond_the_hard_limit_is_refused() -> None:
    async with SandboxPool(1, engines=PROBE, limits=Limits(seconds=20)) as pool:
        with pytest.raises(LimitError) as caught:
            await pool.call(probe(), "devour", [])
        assert caught.value.limit == "memory"


async def test_threads_that_a_worker_starts_between_calls_end_it_too() -> None:
    async with SandboxPool(1, engines=PROBE, limits=PATIENT) as pool:
        before = await pid_of(pool)
        await pool.call(probe("crowder"), "CrowdLater", [])
        await eventually(lambda: pool.stats().kills == {"threads": 1})
        assert await pid_of(pool) != before


async def test_a_worker_that_ran_out_of_memory_serves_nobody_else() -> None:
    async with SandboxPool(1, engines=PROBE) as pool:
        before = await pid_of(pool)
        with pytest.raises(LimitError):
            await pool.call(probe("greedy"), "MemoryError", [])
        assert await pid_of(pool) != before
        assert pool.stats().kills == {"memory": 2}  # it was tried again in a worker that nobody had used
        assert pool.stats().quarantined == ()


async def test_arguments_above_the_limit_never_reach_a_worker() -> None:
    async with SandboxPool(1, engines=PROBE) as pool:
        with pytest.raises(LimitError, match="the arguments have 101 bytes, at most 100 are allowed"):
            await pool.call(probe(), "echo", [b"1" * 101], limits=Limits(input=100))


async def test_a_result_above_the_limit_is_refused_by_the_worker() -> None:
    async with SandboxPool(1, engines=PROBE) as pool:
        with pytest.raises(LimitError) as caught:
            await pool.call(probe(), "big", [b"101"], limits=Limits(output=100))
        assert caught.value.limit == "output"


async def test_a_text_that_is_not_unicode_is_the_scripts_error() -> None:
    async with SandboxPool(1, engines=PROBE) as pool:
        with pytest.raises(ScriptError, match="not valid Unicode"):
            await pool.call(Script("s", "probe", "\ud800"), "echo", [])
        assert (await pool.call(probe(), "echo", [b"1"])).values == (b"1",)


async def test_an_engine_that_cannot_be_loaded_fails_its_own_language_only() -> None:
    async with SandboxPool(1, engines=PROBE | {"other": "no.such.module:Engine"}) as pool:
        with pytest.raises(InternalError, match="the other engine is not available: ModuleNotFoundError"):
            await pool.call(Script("s", "other", ""), "F", [])
        with pytest.raises(InternalError, match="the cobol engine is not available: no such language"):
            await pool.call(Script("s", "cobol", ""), "F", [])
        assert (await pool.call(probe(), "echo", [b"1"])).values == (b"1",)


async def test_more_scripts_than_a_worker_keeps_are_still_told_apart() -> None:
    async with SandboxPool(1, engines=PROBE) as pool:
        for turn in range(2):
            for number in range(300):
                outcome = await pool.call(probe(f"script {number}"), "echo", [b"%d" % turn])
                assert outcome.printed == f"script {number}"


async def test_the_callers_deadline_counts_while_running() -> None:
    async with SandboxPool(1, engines=PROBE, limits=Limits(seconds=30)) as pool:
        with pytest.raises(LimitError, match="did not finish before the caller's deadline"):
            await pool.call(probe(), "sleep", [], deadline=time.monotonic() + 0.2)


async def test_the_callers_deadline_counts_while_waiting() -> None:
    async with SandboxPool(1, engines=PROBE, limits=Limits(seconds=30)) as pool:
        slow = asyncio.ensure_future(pool.call(probe("slow"), "nap", [b"1"]))
        await eventually(lambda: pool.stats().busy == 1)
        with pytest.raises(BusyError, match="before the caller's deadline"):
            await pool.call(probe(), "echo", [b"1"], deadline=time.monotonic() + 0.1)
        await slow
        with pytest.raises(BusyError, match="before the caller's deadline"):
            await pool.call(probe(), "echo", [b"1"], deadline=time.monotonic() - 1)
        assert pool.stats().kills == {}


async def test_no_more_may_wait_than_allowed() -> None:
    async with SandboxPool(1, engines=PROBE, max_waiting=2) as pool:
        await pool.functions(probe())
        calls = [asyncio.ensure_future(pool.call(probe(), "nap", [b"0.2"])) for _ in range(3)]
        await eventually(lambda: pool.stats().waiting == 2)
        with pytest.raises(BusyError, match="2 calls are waiting for a worker already"):
            await pool.call(probe(), "echo", [b"1"])
        await asyncio.gather(*calls)


async def test_cancelling_frees_the_worker_and_blames_nobody() -> None:
    with nothing_left_behind():
        async with SandboxPool(1, engines=PROBE, limits=Limits(seconds=60), reputations=Reputations(losses=1)) as pool:
            running = asyncio.ensure_future(pool.call(probe("s"), "sleep", []))
            await eventually(lambda: pool.stats().busy == 1)
            waiting = asyncio.ensure_future(pool.call(probe("s"), "echo", [b"1"]))
            await eventually(lambda: pool.stats().waiting == 1)
            waiting.cancel()
            await asyncio.sleep(0)
            assert pool.stats().waiting == 0
            running.cancel()
            assert (await pool.call(probe("s"), "echo", [b"2"])).values == (b"2",)
            assert pool.stats().kills == {"cancelled": 1}


async def test_a_worker_killed_from_outside_while_idle_is_replaced() -> None:
    with nothing_left_behind():
        async with SandboxPool(2, engines=PROBE) as pool:
            os.kill(await pid_of(pool), signal.SIGKILL)
            for _ in range(20):
                assert (await pool.call(probe(), "echo", [b"1"])).values == (b"1",)
            await eventually(lambda: pool.stats().ready == 2)
            assert pool.stats().kills == {"lost": 1}


async def test_a_worker_that_dies_idle_is_not_the_next_scripts_fault() -> None:
    async with SandboxPool(1, engines=PROBE) as pool:
        await pool.call(probe("culprit"), "FailLater", [])
        await eventually(lambda: pool.stats().kills == {"crash": 1})
        assert (await pool.call(probe(), "echo", [b"1"])).values == (b"1",)


async def test_a_call_whose_worker_is_killed_from_outside_is_run_again() -> None:
    async with SandboxPool(1, engines=PROBE, limits=Limits(seconds=20), reputations=Reputations(losses=1)) as pool:
        pid = await pid_of(pool)
        call = asyncio.ensure_future(pool.call(probe(), "nap", [b"0.5"]))
        await eventually(lambda: pool.stats().busy == 1)
        os.kill(pid, signal.SIGKILL)
        assert (await call).values == (b"null",)
        assert pool.stats().retries == 1
        assert pool.stats().quarantined == ()


async def test_a_script_that_keeps_losing_workers_is_quarantined_and_the_others_are_not() -> None:
    async with SandboxPool(2, engines=PROBE, limits=Limits(seconds=0.05)) as pool:
        for _ in range(3):
            with pytest.raises(LimitError):
                await pool.call(probe("bad"), "spin", [])
        with pytest.raises(QuarantinedError) as caught:
            await pool.call(probe("bad"), "spin", [])
        assert str(caught.value) == (
            "bad: in spin: in quarantine: it lost 3 workers (3 by time)"
            " and is tried again when its text changes, or after 300 s"
        )
        assert (await pool.call(probe(), "echo", [b"1"], limits=PATIENT)).values == (b"1",)
        cured = await pool.call(Script("bad", "probe", "cured"), "echo", [b"1"], limits=PATIENT)
        assert cured.values == (b"1",)
        assert [quarantine.script for quarantine in pool.stats().quarantined] == ["bad"]


async def test_those_who_wait_when_their_script_is_quarantined_are_told_at_once() -> None:
    async with SandboxPool(2, engines=PROBE, limits=Limits(seconds=0.1)) as pool:
        calls = [outcome_or_error(pool.call(probe("bad"), "spin", [])) for _ in range(30)]
        errors = await asyncio.gather(*calls)
        assert sum(isinstance(error, QuarantinedError) for error in errors) == 27


async def test_many_calls_of_a_bad_script_leave_room_for_the_others() -> None:
    async with SandboxPool(2, engines=PROBE, limits=Limits(seconds=2), reputations=Reputations(losses=0)) as pool:
        bad = [asyncio.ensure_future(outcome_or_error(pool.call(probe("bad"), "spin", []))) for _ in range(3)]
        await eventually(lambda: pool.stats().busy == 1)
        for _ in range(20):
            await pool.call(probe(), "echo", [b"1"], limits=PATIENT)
        assert not any(call.done() for call in bad)
        assert all(isinstance(error, LimitError) for error in await asyncio.gather(*bad))


async def test_workers_are_recycled_after_their_calls_without_losing_one() -> None:
    with nothing_left_behind():
        async with SandboxPool(2, engines=PROBE, recycling=Recycling(calls=20)) as pool:
            for _ in range(200):
                assert (await pool.call(probe(), "echo", [b"1"])).values == (b"1",)
                assert pool.stats().ready >= 1
                await asyncio.sleep(0.002)
            await eventually(lambda: pool.stats().recycled >= 2)
            assert pool.stats().kills == {}


async def test_workers_that_grow_are_recycled() -> None:
    async with SandboxPool(1, engines=PROBE, recycling=Recycling(resident=80 << 20)) as pool:
        pids = set()
        for _ in range(400):
            pids.add((await pool.call(probe(), "grow", [b"1000000"])).values[0])
            await asyncio.sleep(0.001)
        assert len(pids) > 1
        assert set(pool.stats().kills) <= {"memory"}


async def test_closing_tells_those_who_wait() -> None:
    with nothing_left_behind():
        pool = SandboxPool(1, engines=PROBE, limits=Limits(seconds=60))
        await pool.start()
        calls = [asyncio.ensure_future(outcome_or_error(pool.call(probe(), "sleep", []))) for _ in range(3)]
        await eventually(lambda: pool.stats().waiting == 2)
        await pool.close()
        assert all(isinstance(error, BusyError) for error in await asyncio.gather(*calls))
        with pytest.raises(BusyError, match="closed"):
            await pool.call(probe(), "echo", [])


async def test_closing_while_a_death_is_looked_into_tells_its_caller() -> None:
    for _ in range(3):
        pool = SandboxPool(1, engines=PROBE)
        await pool.start()
        call = asyncio.ensure_future(pool.call(probe(), "HangUp", []))
        await asyncio.sleep(0)
        while pool.stats().busy:
            await asyncio.sleep(0)
        await pool.close()
        async with asyncio.timeout(20):
            with pytest.raises(InterpError):
                await call


async def test_closing_ends_a_start_that_still_waits() -> None:
    pool = SandboxPool(1, engines=PROBE)
    starting = asyncio.ensure_future(pool.start())
    await asyncio.sleep(0)
    await pool.close()
    with pytest.raises(BusyError, match="the sandbox is closing"):
        await starting


def test_the_pool_works_on_uvloop_too() -> None:
    async def through_a_kill() -> list[bytes]:
        async with SandboxPool(2, engines=PROBE, limits=PATIENT) as pool:
            large = b"1" * (3 << 20)
            values = [(await pool.call(probe(), "echo", [large])).values[0]]
            with pytest.raises(LimitError, match="did not finish within 0.3 s"):
                await pool.call(probe("bad"), "spin", [], limits=QUICK)
            os.kill(await pid_of(pool), signal.SIGKILL)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(pool.call(probe(), "sleep", []), 0.1)
            return [*values, (await pool.call(probe(), "echo", [b"2"])).values[0]]

    uvloop.run(asyncio.sleep(0))  # it keeps a descriptor of its own from the first time on
    with nothing_left_behind():
        assert uvloop.run(through_a_kill()) == [b"1" * (3 << 20), b"2"]


async def test_a_pool_whose_workers_cannot_start_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    with nothing_left_behind(), pytest.raises(InternalError, match="no sandbox worker starts: it ended with status 1$"):
        await SandboxPool(2, engines=PROBE).start()
