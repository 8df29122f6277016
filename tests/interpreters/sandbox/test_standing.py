"""Who is proven, suspect or in quarantine, and who runs next."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interpreters.core.engine import Script
from interpreters.core.errors import QuarantinedError
from interpreters.sandbox.standing import Standings, digest_of
from interpreters.sandbox.waiting import FairQueue, Turnstile

BAD = Script("bad.lua", "lua", "while true do end")


@dataclass(eq=False)
class Waiter:
    digest: str
    doubtful: bool = False


def test_the_third_loss_within_the_window_is_quarantine_and_says_why() -> None:
    standings = Standings(losses=3, window=100)
    for moment, reason in ((0, "time"), (10, "memory"), (20, "time")):
        standings.check(BAD, "F")
        standings.lose(BAD, reason, moment)
    with pytest.raises(QuarantinedError) as caught:
        standings.check(BAD, "F")
    assert str(caught.value) == (
        "bad.lua: in F: in quarantine: it lost 3 workers (2 by time, 1 by memory)"
        " and is tried again when its text changes"
    )


def test_losses_far_apart_are_forgiven() -> None:
    standings = Standings(losses=3, window=100)
    for moment in (0, 60, 120, 180, 240):
        standings.lose(BAD, "time", moment)
        standings.check(BAD, "F")


def test_another_name_does_not_help_but_another_text_does() -> None:
    standings = Standings(losses=1)
    standings.lose(BAD, "time", 0)
    with pytest.raises(QuarantinedError):
        standings.check(Script("renamed.lua", "lua", BAD.text), "F")
    standings.check(Script(BAD.name, "lua", BAD.text + " "), "F")


def test_quarantine_can_be_switched_off() -> None:
    standings = Standings(losses=0)
    for moment in range(50):
        standings.lose(BAD, "time", moment)
    standings.check(BAD, "F")


def test_a_suspect_is_one_until_the_window_has_passed() -> None:
    standings = Standings(window=100)
    standings.strike(digest_of(BAD), now=0)
    assert standings.suspect(digest_of(BAD), now=99)
    assert not standings.suspect(digest_of(BAD), now=101)


def test_suspects_together_hold_half_of_the_workers_and_proven_scripts_all() -> None:
    standings = Standings()
    turnstile = Turnstile(4, standings)
    for name in "ab":
        standings.strike(name, now=0)
    standings.prove("good")
    for name in "ab":
        assert turnstile.admits(name, now=1)
        turnstile.enter(Waiter(name), now=1)
    assert not turnstile.admits("a", now=1)
    for _ in range(4):
        assert turnstile.admits("good", now=1)
        turnstile.enter(Waiter("good"), now=1)


def test_an_unproven_script_holds_half_of_the_workers() -> None:
    turnstile = Turnstile(4, Standings())
    waiters = [Waiter("new"), Waiter("new")]
    for waiter in waiters:
        assert turnstile.admits("new", now=0)
        turnstile.enter(waiter, now=0)
    assert not turnstile.admits("new", now=0)
    assert turnstile.admits("other", now=0)
    turnstile.leave(waiters[0])
    assert turnstile.admits("new", now=0)


@given(st.lists(st.sampled_from("abc"), max_size=30))
def test_the_queue_serves_everyone_once_in_order_within_a_script_and_scripts_in_turn(names: list[str]) -> None:
    standings = Standings()
    for name in "abc":
        standings.prove(name)
    turnstile = Turnstile(1, standings)
    queue: FairQueue[Waiter] = FairQueue()
    waiters = [Waiter(name) for name in names]
    for waiter in waiters:
        queue.join(waiter)
    served: list[Waiter] = []
    while (waiter := queue.first(turnstile, now=0)) is not None:
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
        queue.join(waiter)
    for waiter, stays in waiters:
        if not stays:
            queue.leave(waiter)
    assert {id(waiter) for waiter in queue} == {id(waiter) for waiter, stays in waiters if stays}
    assert len(queue) == sum(stays for _, stays in waiters)
