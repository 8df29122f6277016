"""The fast packing places exactly what the plain rule places, node by node, in worlds of every shape."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimator.fit.model import NO_LIMIT
from estimator.fit.packing import Demand, pack
from tests.estimator.fit.naive import Row, columns, pack_naively

World = tuple[list[Row], list[Demand], int]


def random_world(rng: random.Random) -> World:
    """Few kinds of nodes in runs or mixed, or all different; some nodes closed to some components."""
    resources = rng.randint(1, 3)
    size = rng.choice([1, 2, 3, 5, 8, 13, 30])
    biggest = rng.choice([4, 12, 40])
    kinds = [tuple(rng.randint(0, biggest) for _ in range(resources)) for _ in range(rng.choice([1, 2, 3, size]))]
    if rng.random() < 0.5:
        rows = [rng.choice(kinds) for _ in range(size)]
    else:
        rows = sorted((rng.choice(kinds) for _ in range(size)), reverse=rng.random() < 0.5)
    demands = []
    for _ in range(rng.randint(1, 4)):
        need = [rng.randint(0, rng.choice([2, 5, 9])) for _ in range(resources)]
        need[-1] = max(need[-1], 1)
        openness = rng.choice([1.0, 1.0, 0.7, 0.3])
        admits = bytes(rng.random() < openness for _ in range(size))
        demands.append(Demand(rng.randint(1, 4), tuple(need), admits))
    return rows, demands, rng.choice([NO_LIMIT, NO_LIMIT, NO_LIMIT, rng.randint(0, 6)])


def check(world: World) -> None:
    rows, demands, limit = world
    assert pack(columns(rows, demands), demands, limit) == pack_naively(rows, demands, limit)


@pytest.mark.parametrize("seed", range(20))
def test_random_worlds_come_out_as_the_plain_rule_says(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(1500):
        check(random_world(rng))


def long_world(rng: random.Random) -> World:
    """Two or three long runs of equal nodes, with components that leave different remainders."""
    kinds = [(rng.randint(5, 16), rng.randint(5, 16)) for _ in range(rng.randint(1, 3))]
    rows = [kind for kind in kinds for _ in range(rng.randint(15, 50))]
    demands = []
    for _ in range(rng.randint(1, 3)):
        admits = bytes(rng.random() < 0.97 for _ in rows) if rng.random() < 0.3 else b"\1" * len(rows)
        demands.append(Demand(rng.randint(1, 3), (rng.randint(1, 7), rng.randint(1, 7)), admits))
    return rows, demands, rng.choice([NO_LIMIT, NO_LIMIT, rng.randint(0, 90)])


@pytest.mark.parametrize("seed", range(20))
def test_long_runs_of_equal_nodes_come_out_as_the_plain_rule_says(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(25):
        check(long_world(rng))


@st.composite
def worlds(draw: st.DrawFn) -> World:
    resources = draw(st.integers(1, 3))
    amounts = st.tuples(*[st.integers(0, 12)] * resources)
    rows = draw(st.lists(amounts, max_size=12))
    admits = st.binary(min_size=len(rows), max_size=len(rows)).map(lambda drawn: bytes(byte > 60 for byte in drawn))
    needs = st.tuples(*[st.integers(0, 5)] * (resources - 1), st.integers(1, 3))
    demands = draw(st.lists(st.builds(Demand, st.integers(1, 4), needs, admits), min_size=1, max_size=4))
    return rows, demands, draw(st.sampled_from([NO_LIMIT, 0, 1, 3]))


@settings(max_examples=1500, deadline=None)
@given(worlds())
def test_drawn_worlds_come_out_as_the_plain_rule_says(world: World) -> None:
    check(world)


def test_a_run_of_equal_nodes_repeats_with_a_period_of_several_nodes() -> None:
    demands = [Demand(2, (3, 1), b"\1" * 60), Demand(3, (5, 1), b"\1" * 60), Demand(1, (7, 1), b"\1" * 60)]
    check(([(17, 9)] * 60, demands, NO_LIMIT))


def test_pointers_far_apart_do_not_disturb_each_other() -> None:
    demands = [
        Demand(1, (1,), b"\1" * 50 + b"\0" * 50),
        Demand(1, (3,), b"\1" * 100),
        Demand(2, (2,), b"\0" * 50 + b"\1" * 50),
    ]
    check(([(7,)] * 100, demands, NO_LIMIT))


def test_amounts_beyond_64_bits_are_exact() -> None:
    huge = 10**30
    packed = pack([[huge + 1] * 3, [10**6] * 3], [Demand(1, (huge // 3, 1), b"\1\1\1")], NO_LIMIT)
    assert packed.sets == 9
    assert packed.left == [[huge + 1 - 3 * (huge // 3)] * 3, [10**6 - 3] * 3]


def test_the_number_of_sets_costs_nothing() -> None:
    packed = pack([[10**9] * 2], [Demand(1, (1,), b"\1\1"), Demand(2, (1,), b"\1\1")], NO_LIMIT)
    assert packed.sets == 2 * 10**9 // 3
