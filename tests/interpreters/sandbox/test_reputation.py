"""Which scripts are trusted, suspect or in quarantine, and which call runs next."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interpreters.core.engine import Limits, Script
from interpreters.core.errors import QuarantinedError
from interpreters.sandbox.calls import Task
from interpreters.sandbox.fair_queue import FairQueue
from interpreters.sandbox.reputation import REMEMBERED, ConcurrencyLimit, Reputation, Reputations, digest_of

BAD = Script("bad.lua", "lua", "while true do end")


@dataclass(eq=False)
class Call:
    digest: str
    reputation: Reputation = field(default_factory=Reputation)
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
    reputations.of(digest_of(BAD)).note_reply(0.001)
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
    reputations.of(digest_of(BAD)).note_reply()
    reputations.note_loss(task(argument=b"1"), "time", 0)
    with pytest.raises(QuarantinedError):
        reputations.check(task(argument=b"2"), 1)


def test_quarantine_ends_after_the_window_and_never_hides_a_scripts_functions() -> None:
    for answered in (False, True):
        reputations = Reputations(losses=1, window=100)
        if answered:
            reputations.of(digest_of(BAD)).note_reply(0.001)
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
    reputations, concurrency = Reputations(window=100), ConcurrencyLimit(2)
    suspects = [Call("bad", reputations.of("bad")), Call("bad", reputations.of("bad"))]
    reputations.make_suspect(reputations.of("bad"), now=0)
    concurrency.begin(suspects[0], now=99)
    assert not concurrency.admits(suspects[1], now=99)
    concurrency.end(suspects[0])
    reputations.of("bad").note_reply()
    concurrency.begin(suspects[0], now=101)
    assert concurrency.admits(suspects[1], now=101)


def test_suspects_together_use_half_of_the_workers_and_scripts_that_have_replied_all() -> None:
    reputations, concurrency = Reputations(), ConcurrencyLimit(4)
    calls = {name: Call(name, reputations.of(name)) for name in ("a", "b", "good")}
    for name in "ab":
        reputations.make_suspect(calls[name].reputation, now=0)
    calls["good"].reputation.note_reply()
    for name in "ab":
        assert concurrency.admits(calls[name], now=1)
        concurrency.begin(calls[name], now=1)
    assert not concurrency.admits(calls["a"], now=1)
    for _ in range(4):
        assert concurrency.admits(calls["good"], now=1)
        concurrency.begin(calls["good"], now=1)


def test_a_script_that_has_not_replied_uses_half_of_the_workers() -> None:
    concurrency = ConcurrencyLimit(4)
    calls = [Call("new"), Call("new")]
    for call in calls:
        assert concurrency.admits(call, now=0)
        concurrency.begin(call, now=0)
    assert not concurrency.admits(Call("new"), now=0)
    assert concurrency.admits(Call("other"), now=0)
    concurrency.end(calls[0])
    assert concurrency.admits(Call("new"), now=0)


@given(st.lists(st.sampled_from("abc"), max_size=30))
def test_the_queue_serves_every_call_once_in_order_within_a_script_and_scripts_in_turn(names: list[str]) -> None:
    queue: FairQueue[Call] = FairQueue()
    calls = [Call(name, Reputation(has_replied=True)) for name in names]
    for call in calls:
        queue.add(call)
    served: list[Call] = []
    while (first := queue.first(ConcurrencyLimit(1), now=0)) is not None:
        queue.take(first)
        served.append(first)
    assert queue.length == 0
    for name in "abc":
        assert [call for call in served if call.digest == name] == [call for call in calls if call.digest == name]
    while_all_wait = served[: 2 * len(set(names))] if names else []
    if names and min(map(names.count, set(names))) >= 2:
        assert sorted(call.digest for call in while_all_wait) == sorted([*set(names), *set(names)])


@given(st.lists(st.tuples(st.sampled_from("ab"), st.booleans()), max_size=30))
def test_a_call_that_leaves_the_queue_is_not_served(entries: list[tuple[str, bool]]) -> None:
    queue: FairQueue[Call] = FairQueue()
    calls = [(Call(name), stays) for name, stays in entries]
    for call, _ in calls:
        queue.add(call)
    for call, stays in calls:
        if not stays:
            queue.discard(call)
    assert {id(call) for call in queue} == {id(call) for call, stays in calls if stays}
    assert queue.length == sum(stays for _, stays in calls)


def test_the_oldest_reputation_is_forgotten_first() -> None:
    reputations = Reputations()
    reputations.of("first").note_reply()
    for number in range(REMEMBERED):
        reputations.of(str(number)).note_reply()
    assert reputations.of("0").has_replied
    assert not reputations.of("first").has_replied
