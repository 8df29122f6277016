"""What a script does to its worker does not concern other authors, and only proven losses count against it."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext

import pytest

from interpreters.core.engine import BUNDLED, MIB, Limits, Script
from interpreters.core.errors import BusyError, LimitError, QuarantinedError, ScriptError
from interpreters.sandbox.calls import Recycling, Task
from interpreters.sandbox.pool import SandboxPool
from interpreters.sandbox.reputation import RESPAWN_SECONDS, RESPAWNS, Reputations
from interpreters.sandbox.runner import SandboxRunner
from tests.interpreters.sandbox.surroundings import PROBE, nothing_left_behind

PATIENT = Limits(seconds=30)


def by(author: str, text: str = "") -> Script:
    return Script(f"of {author}", "probe", text, author)


async def pid_of(pool: SandboxPool, author: str) -> str:
    return (await pool.call(by(author), "pid", [])).printed


async def test_authors_do_not_share_a_worker() -> None:
    with nothing_left_behind():
        async with SandboxPool(1, engines=PROBE, limits=PATIENT, authors=("a", "b")) as pool:
            assert len({await pid_of(pool, author) for author in "abab"}) == 2
            assert await pid_of(pool, "a new one") not in {await pid_of(pool, "a"), await pid_of(pool, "b")}
            assert pool.stats().size == 3


async def test_they_share_it_if_the_operator_says_so() -> None:
    async with SandboxPool(1, engines=PROBE, limits=PATIENT, authors=("a", "b"), isolated=False) as pool:
        assert len({await pid_of(pool, author) for author in "abab"}) == 1


async def test_an_author_who_holds_all_of_his_workers_delays_nobody_else() -> None:
    async with SandboxPool(1, engines=PROBE, limits=PATIENT, authors=("a", "b")) as pool:
        held = [asyncio.ensure_future(pool.call(by("a"), "nap", [b"20"])) for _ in range(3)]
        await asyncio.sleep(0.05)
        assert (await pool.call(by("b"), "echo", [b"1"])).values == (b"1",)
        assert not any(call.done() for call in held)
        for call in held:
            call.cancel()


async def test_a_worker_that_a_call_made_heavy_serves_nobody_else() -> None:
    async with SandboxPool(1, engines=PROBE, limits=PATIENT, recycling=Recycling(resident=100 * MIB)) as pool:
        first = (await pool.call(by("a"), "grow", [b"120000000"])).values[0].decode()
        assert await pid_of(pool, "") != first
        assert pool.stats().kills == {"memory": 1}


@pytest.mark.parametrize("act", ["exit", "MemoryError", "NotAReply"])
async def test_what_fails_in_a_used_worker_is_tried_on_a_fresh_one_before_anyone_is_blamed(act: str) -> None:
    async with SandboxPool(1, engines=PROBE, limits=PATIENT, reputations=Reputations(losses=1)) as pool:
        await pid_of(pool, "")
        once = await pool.call(by(""), "OnceUsed", [b'"%s"' % act.encode()])
        assert once.values == (b'"fresh"',)
        assert pool.stats().quarantined == ()
        assert pool.stats().retries == 1


@pytest.mark.parametrize("act", ["exit", "MemoryError", "NotAReply"])
def test_the_blocking_front_tries_a_fresh_worker_too(act: str) -> None:
    with SandboxRunner(engines=PROBE, limits=PATIENT, reputations=Reputations(losses=1)) as runner:
        runner.call(by(""), "echo", [])
        assert runner.call(by(""), "OnceUsed", [b'"%s"' % act.encode()]).values == (b'"fresh"',)
        assert runner.stats().quarantined == ()


LUA = "function F(object) {} end"
HOARD = "X = ['x' * 1000000 + str(i) for i in range(60)]\ndef F(object):\n    return len(X)\n"


async def test_a_claim_to_be_out_of_memory_costs_no_worker() -> None:
    script = Script("claims", "lua", LUA.format("error('not enough memory', 0)"))
    async with SandboxPool(1, limits=PATIENT) as pool:
        for _ in range(30):
            with pytest.raises(ScriptError, match="not enough memory"):
                await pool.call(script, "F", [b"{}"])
        assert pool.stats().kills == {}


async def test_running_out_of_the_memory_limit_in_lua_costs_no_worker_either() -> None:
    script = Script("greedy", "lua", LUA.format("local s = 'a' while true do s = s .. s end"))
    async with SandboxPool(1, limits=PATIENT) as pool:
        for _ in range(3):
            with pytest.raises(LimitError, match="it needs more than 64 MiB"):
                await pool.call(script, "F", [b"{}"])
        assert pool.stats().kills == {}


async def test_starlark_modules_that_hold_much_leave_nothing_behind_for_the_next_script() -> None:
    async with SandboxPool(1, limits=PATIENT) as pool:
        for number in range(8):
            hoard = Script(f"hoard {number}", "starlark", f"{HOARD}# {number}\n")
            assert (await pool.call(hoard, "F", [b"{}"])).values == (b"60",)
        innocent = Script("innocent", "starlark", "def F(object):\n    return 1\n")
        assert (await pool.call(innocent, "F", [b"{}"])).values == (b"1",)
        assert pool.stats().quarantined == ()


def task(argument: bytes, author: str = "") -> Task:
    return Task(by(author), "F", [argument], True, Limits(), None)


def test_a_bundled_script_is_never_in_quarantine_as_a_whole() -> None:
    reputations = Reputations(losses=3)
    for argument in (b"1", b"2", b"3"):
        reputations.note_loss(task(argument, BUNDLED), "memory", 0)
    reputations.check(task(b"4", BUNDLED), 1)
    for _ in range(2):
        reputations.note_loss(task(b"1", BUNDLED), "memory", 2)
    with pytest.raises(QuarantinedError):
        reputations.check(task(b"1", BUNDLED), 3)
    reputations.check(task(b"2", BUNDLED), 3)


def test_a_copy_of_a_script_of_another_author_has_a_reputation_of_its_own() -> None:
    reputations = Reputations(losses=1)
    reputations.note_loss(task(b"1", "somebody"), "crash", 0)
    with pytest.raises(QuarantinedError):
        reputations.check(task(b"1", "somebody"), 1)
    reputations.check(task(b"1", BUNDLED), 1)


def test_workers_lost_on_ever_new_objects_come_out_of_a_budget_that_fills_again() -> None:
    reputations = Reputations(losses=3)
    for number in range(RESPAWNS):
        reputations.check(task(b"%d" % number, BUNDLED), 0)
        reputations.note_loss(task(b"%d" % number, BUNDLED), "memory", 0)
    with pytest.raises(BusyError, match=r"has cost 20 workers within a short time; it is asked again in 3\.0 s"):
        reputations.check(task(b"another", BUNDLED), 0)
    reputations.check(task(b"another"), 0)
    reputations.check(task(b"another", BUNDLED), RESPAWN_SECONDS)
    reputations.note_loss(task(b"another", BUNDLED), "memory", RESPAWN_SECONDS)
    with pytest.raises(BusyError):
        reputations.check(task(b"a third", BUNDLED), RESPAWN_SECONDS)
    reputations.check(task(b"a third", BUNDLED), 3 * RESPAWN_SECONDS)


def test_large_objects_that_use_up_the_budget_do_not_stop_the_usual_ones() -> None:
    reputations = Reputations(losses=3)
    for number in range(RESPAWNS):
        reputations.note_loss(task(b"%1000d" % number, BUNDLED), "time", 0)
    for size, is_refused in ((8000, True), (1000, True), (500, True), (499, False), (0, False)):
        with pytest.raises(BusyError) if is_refused else nullcontext():
            reputations.check(task(b"x" * size, BUNDLED), 0)
    reputations.note_loss(task(b"x" * 400, BUNDLED), "time", 0)
    with pytest.raises(BusyError):
        reputations.check(task(b"x" * 400, BUNDLED), 1)
    reputations.note_loss(task(b"", BUNDLED), "time", 1)
    with pytest.raises(BusyError):
        reputations.check(task(b"", BUNDLED), 1)
