"""The judge of the matrix sees harm, and its page says what the last runs saw. No Karmada is needed for that."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from interpreters.core.division import Division
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import Operation
from tests.live.matrix.cells import Cell, Event, Group, Policy
from tests.live.matrix.judgement import BY_POLICY, Judge, Wrong, meaning, waits_for_interp
from tests.live.matrix.observation import Seen, normal
from tests.live.matrix.samples import Counter, Sample, counter, samples_of
from webhook.registration.rules import COMPONENTS, REPLICAS, REVISION

CLONESET = GroupVersionKind("apps.kruise.io", "v1alpha1", "CloneSet")
JAX = GroupVersionKind("kubeflow.org", "v1", "JAXJob")


@pytest.fixture(scope="module")
def counting() -> Iterator[Counter]:
    with counter() as counting:
        yield counting


def seen(sample: Sample, step: int = 0, **shares: int | None) -> Seen:
    """The sample in these members, with other replicas where a number is given."""
    copies: dict[str, dict[str, Any]] = {}
    for cluster, share in shares.items():
        copies[cluster] = normal({**sample.object, "metadata": {"name": sample.name, "namespace": "x"}})
        if share is not None:
            copies[cluster]["spec"] = {**copies[cluster]["spec"], "replicas": share}
    steps = dict.fromkeys(copies, str(step))
    return Seen(targets=dict.fromkeys(copies), copies=copies, steps=steps, observed=True)


@pytest.mark.parametrize(
    ("policy", "alone", "now", "wrong"),
    [
        (Policy.WEIGHTS, {"member1": 4, "member2": 2}, {"member1": 4, "member2": 2}, set()),
        (Policy.WEIGHTS, {"member1": 4, "member2": 2}, {"member1": 6, "member2": 6}, {Wrong.FIELD, Wrong.PODS}),
        (Policy.WEIGHTS, {"member1": 4, "member2": 2}, {"member1": 2, "member2": 4}, {Wrong.FIELD, Wrong.PODS}),
        (Policy.AGGREGATED, {"member1": 6}, {"member1": 6, "member2": 6}, {Wrong.PLACE, Wrong.PODS}),
        (Policy.ONE, {"member1": 6}, {"member2": 6}, {Wrong.PLACE}),
        (Policy.DUPLICATED, {"member1": 6, "member2": 6}, {"member1": 6, "member2": 0}, {Wrong.FIELD, Wrong.PODS}),
    ],
)
def test_harm_to_a_kind_that_divides_is_seen(
    counting: Counter, policy: Policy, alone: dict[str, int], now: dict[str, int], wrong: set[Wrong]
) -> None:
    sample = samples_of(CLONESET, counting)[0]
    cell = Cell(sample, policy, Group.BEFORE)
    judge = Judge(counting, True, {(cell.alone, Event.CREATED): seen(sample, **alone)})
    verdict = judge.verdict(cell, Event.CREATED, seen(sample, **now), 0)
    assert {fault.wrong for fault in verdict.faults} == wrong


NEWER = GroupVersionKind("apps.kruise.io", "v1beta1", "CloneSet")  # which Karmada's own scripts do not know
WHOLE = {"member1": 6, "member2": 6}
OF_A_NEWER_VERSION = [  # policy, what Karmada alone did, what interp has registered, what is seen, what is wrong
    (Policy.WEIGHTS, WHOLE, [REPLICAS, REVISION], {"member1": 4, "member2": 2}, set()),
    (Policy.WEIGHTS, WHOLE, [REPLICAS, REVISION], WHOLE, {Wrong.PODS}),
    (Policy.WEIGHTS, WHOLE, [REPLICAS, REVISION], {"member1": 3, "member2": 3}, {Wrong.PODS}),
    (Policy.AGGREGATED, WHOLE, [REPLICAS, REVISION], {"member1": 6}, set()),
    (Policy.AGGREGATED, WHOLE, [REPLICAS, REVISION], {"member1": 5}, {Wrong.PODS}),
    (Policy.ONE, {"member1": 6}, [REPLICAS, REVISION], {"member2": 6}, set()),
    (Policy.DUPLICATED, WHOLE, [REPLICAS, REVISION], WHOLE, set()),
    (Policy.DUPLICATED, WHOLE, [REPLICAS, REVISION], {"member1": 6, "member2": 3}, {Wrong.PODS}),
    (Policy.WEIGHTS, WHOLE, [], WHOLE, set()),
    (Policy.WEIGHTS, WHOLE, [], {"member1": 4, "member2": 2}, {Wrong.FIELD}),
]


@pytest.mark.parametrize(("policy", "alone", "registered", "now", "wrong"), OF_A_NEWER_VERSION)
def test_a_version_that_only_interp_divides_is_judged_by_what_the_policy_means(
    counting: Counter,
    policy: Policy,
    alone: dict[str, int],
    registered: list[Operation],
    now: dict[str, int],
    wrong: set[Wrong],
) -> None:
    sample = samples_of(NEWER, counting)[0]
    cell = Cell(sample, policy, Group.BEFORE)
    judge = Judge(counting, False, {(cell.alone, Event.CREATED): seen(sample, **alone)}, (), {NEWER: registered})
    verdict = judge.verdict(cell, Event.CREATED, seen(sample, **now), 0)
    assert {fault.wrong for fault in verdict.faults} == wrong
    assert (BY_POLICY in verdict.exempt) is (bool(registered) and now != alone)


def test_nothing_but_the_share_may_differ_in_a_version_that_only_interp_divides(counting: Counter) -> None:
    sample = samples_of(NEWER, counting)[0]
    cell = Cell(sample, Policy.WEIGHTS, Group.BEFORE)
    alone = {(cell.alone, Event.CREATED): seen(sample, **WHOLE)}
    judge = Judge(counting, False, alone, (), {NEWER: [REPLICAS, REVISION]})
    now = seen(sample, member1=4, member2=2)
    now.copies["member2"]["spec"]["paused"] = True
    (fault,) = judge.verdict(cell, Event.CREATED, now, 0).faults
    assert (fault.wrong, fault.what) == (Wrong.FIELD, "member2 spec.paused nothing → true")


def test_a_change_that_does_not_arrive_is_seen(counting: Counter) -> None:
    sample = samples_of(JAX, counting)[0]
    cell = Cell(sample, Policy.DUPLICATED, Group.AFTER)
    judge = Judge(counting, True, {(cell.alone, Event.RELABELLED): seen(sample, 1, member1=None)})
    verdict = judge.verdict(cell, Event.RELABELLED, seen(sample, 0, member1=None), 1)
    assert {fault.wrong for fault in verdict.faults} == {Wrong.LATE}


def test_while_interp_is_down_an_object_may_wait_but_not_change(counting: Counter) -> None:
    sample = samples_of(CLONESET, counting)[0]
    cell = Cell(sample, Policy.WEIGHTS, Group.AFTER)
    before = seen(sample, 0, member1=4, member2=2)
    judge = Judge(counting, True, {(cell.alone, Event.RELABELLED): seen(sample, 1, member1=4, member2=2)})
    waiting = judge.verdict_while_down(cell, Event.RELABELLED, before, before, 1, waits=True)
    assert not waiting.faults and waiting.exempt
    for harmed in (seen(sample, 0, member1=4), seen(sample, 0, member1=6, member2=6)):
        assert judge.verdict_while_down(cell, Event.RELABELLED, harmed, before, 1, waits=True).faults
    assert judge.verdict_while_down(cell, Event.RELABELLED, before, before, 1, waits=False).faults


@pytest.mark.parametrize(
    ("division", "policy", "asked", "wanted"),
    [
        (Division.WHOLE, Policy.WEIGHTS, {"member1": 8, "member2": 8}, ""),
        (Division.WHOLE, Policy.WEIGHTS, {"member1": 8, "member2": 4}, "all 8 in each"),
        (Division.WHOLE, Policy.ONE, {"member2": 8}, ""),
        (Division.DIVIDES, Policy.WEIGHTS, {"member1": 5, "member2": 3}, ""),
        (Division.DIVIDES, Policy.WEIGHTS, {"member1": 4, "member2": 4}, "shares of 8 by weight"),
        (Division.DIVIDES, Policy.WEIGHTS, {"member1": 8}, "shares of 8 by weight"),
        (Division.DIVIDES, Policy.ONE, {"member1": 4, "member2": 4}, "8 in one cluster"),
        (Division.DIVIDES, Policy.AGGREGATED, {"member1": 7, "member2": 2}, "shares of 8"),
        (Division.KARMADA, Policy.AGGREGATED, {"member1": 7, "member2": 2}, ""),
    ],
)
def test_what_a_policy_means_for_eight_pods(
    division: Division, policy: Policy, asked: dict[str, int], wanted: str
) -> None:
    assert meaning(division, policy, 8, asked) == wanted


def test_components_are_waited_for_with_the_gate_on_only() -> None:
    assert waits_for_interp([COMPONENTS], Event.CREATED, gate=True)
    assert not waits_for_interp([COMPONENTS], Event.CREATED, gate=False)
    assert waits_for_interp([REPLICAS, COMPONENTS], Event.CREATED, gate=False)
