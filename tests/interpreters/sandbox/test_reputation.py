"""Who is proven, suspect or in quarantine, and who runs next."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interpreters.core.engine import Limits, Script
from interpreters.core.errors import QuarantinedError
from interpreters.sandbox.calls import Task
from interpreters.sandbox.fair_queue import ConcurrencyLimit, FairQueue
from interpreters.sandbox.reputation import Reputations, digest_of

BAD = Script("bad.lua", "lua", "while true do end")


@dataclass(eq=False)
class Waiter:
    digest: str
    suspect: bool = False


def task(script: Script = BAD, argument: bytes = b"{}", function: str = "F") -> Task:
    return Task(script, function, [argument], True, Limits(), None)


def test_the_third_loss_within_the_window_is_quarantine_and_says_why() -> None:
    reputations = Reputations(losses=3, window=100)
    for moment, reason in ((0, "time"), (10, "memory"), (20, "time")):
        reputations.check(task(), moment)
        reputations.note_loss(task(), reason, moment)
    with pytest.raises(QuarantinedError) as caught:
        reputations.check(task(argument=b"[]"), 21)
    assert str(caught.value) == (
        "bad.lua: in F: in quarantine: it lost 3 workers (2 by time, 1 by memory)"
        " and is tried again when its text changes, or after 100 s"
    )


def test_a_script_that_has_answered_is_refused_the_same_call_only() -> None:
    reputations = Reputations(losses=3, window=100)
    reputations.note_reply(digest_of(BAD), 0.001)
    for argument in (b"1", b"2", b"3", b"1", b"1"):
        reputations.check(task(argument=b"1"), 0)
        reputations.note_loss(task(argument=argument), "time", 0)
    with pytest.raises(QuarantinedError) as caught:
        reputations.check(task(argument=b"1"), 1)
    assert str(caught.value) == (
        "bad.lua: in F: in quarantine: on this object it lost 3 workers (3 by time)"
        " and is tried again when either changes, or after 100 s"
    )
    for other in (task(argument=b"2"), task(argument=b"1", function="G"), task(Script("x", "lua", "")), task()):
        reputations.check(other, 1)


def test_knowing_a_scripts_functions_is_no_answer() -> None:
    reputations = Reputations(losses=1)
    reputations.note_reply(digest_of(BAD))
    reputations.note_loss(task(argument=b"1"), "time", 0)
    with pytest.raises(QuarantinedError):
        reputations.check(task(argument=b"2"), 1)


def test_quarantine_ends_after_the_window_and_never_hides_a_scripts_functions() -> None:
    for answered in (False, True):
        reputations = Reputations(losses=1, window=100)
        if answered:
            reputations.note_reply(digest_of(BAD), 0.001)
        reputations.note_loss(task(), "time", 0)
        assert [quarantine.whole for quarantine in reputations.quarantines(99)] == [not answered]
        reputations.check(task(function=""), 99)
        with pytest.raises(QuarantinedError):
            reputations.check(task(), 99)
        reputations.check(task(), 100)
        assert reputations.quarantines(100) == ()


def test_losses_far_apart_are_forgiven() -> None:
    reputations = Reputations(losses=3, window=100)
    for moment in (0, 60, 120, 180, 240):
        reputations.note_loss(task(), "time", moment)
        reputations.check(task(), moment)


def test_another_name_does_not_help_but_another_text_does() -> None:
    reputations = Reputations(losses=1)
    reputations.note_loss(task(), "time", 0)
    with pytest.raises(QuarantinedError):
        reputations.check(task(Script("renamed.lua", "lua", BAD.text)), 1)
    reputations.check(task(Script(BAD.name, "lua", BAD.text + " ")), 1)


def test_quarantine_can_be_switched_off() -> None:
    reputations = Reputations(losses=0)
    for moment in range(50):
        reputations.note_loss(task(), "time", moment)
    reputations.check(task(), 51)


def test_a_suspect_is_one_until_the_window_has_passed() -> None:
    reputations = Reputations(window=100)
    reputations.make_suspect(digest_of(BAD), now=0)
    assert reputations.is_suspect(digest_of(BAD), now=99)
    assert not reputations.is_suspect(digest_of(BAD), now=101)


def test_suspects_together_hold_half_of_the_workers_and_proven_scripts_all() -> None:
    reputations = Reputations()
    concurrency = ConcurrencyLimit(4, reputations)
    for name in "ab":
        reputations.make_suspect(name, now=0)
    reputations.note_reply("good")
    for name in "ab":
        assert concurrency.admits(name, now=1)
        concurrency.enter(Waiter(name), now=1)
    assert not concurrency.admits("a", now=1)
    for _ in range(4):
        assert concurrency.admits("good", now=1)
        concurrency.enter(Waiter("good"), now=1)


def test_an_unproven_script_holds_half_of_the_workers() -> None:
    concurrency = ConcurrencyLimit(4, Reputations())
    waiters = [Waiter("new"), Waiter("new")]
    for waiter in waiters:
        assert concurrency.admits("new", now=0)
        concurrency.enter(waiter, now=0)
    assert not concurrency.admits("new", now=0)
    assert concurrency.admits("other", now=0)
    concurrency.leave(waiters[0])
    assert concurrency.admits("new", now=0)


@given(st.lists(st.sampled_from("abc"), max_size=30))
def test_the_queue_serves_everyone_once_in_order_within_a_script_and_scripts_in_turn(names: list[str]) -> None:
    reputations = Reputations()
    for name in "abc":
        reputations.note_reply(name)
    concurrency = ConcurrencyLimit(1, reputations)
    queue: FairQueue[Waiter] = FairQueue()
    waiters = [Waiter(name) for name in names]
    for waiter in waiters:
        queue.add(waiter)
    served: list[Waiter] = []
    while (waiter := queue.first(concurrency, now=0)) is not None:
        queue.take(waiter)
        served.append(waiter)
    assert len(queue) == 0
    for name in "abc":
        assert [w for w in served if w.digest == name] == [w for w in waiters if w.digest == name]
    everybody_waits = served[: 2 * len(set(names))] if names else []
    if names and min(map(names.count, set(names))) >= 2:
        assert sorted(w.digest for w in everybody_waits) == sorted([*set(names), *set(names)])


@given(st.lists(st.tuples(st.sampled_from("ab"), st.booleans()), max_size=30))
def test_who_leaves_the_queue_is_not_served(entries: list[tuple[str, bool]]) -> None:
    queue: FairQueue[Waiter] = FairQueue()
    waiters = [(Waiter(name), stays) for name, stays in entries]
    for waiter, _ in waiters:
        queue.add(waiter)
    for waiter, stays in waiters:
        if not stays:
            queue.discard(waiter)
    assert {id(waiter) for waiter in queue} == {id(waiter) for waiter, stays in waiters if stays}
    assert len(queue) == sum(stays for _, stays in waiters)
