"""From columns to the packer and back: what is left of every resource, not only how many sets fit."""

from __future__ import annotations

import random

import numpy as np
import pytest

from estimator.fit.estimation import estimate_replicas, estimate_sets
from estimator.fit.fitting import Wanted, fit_sets
from estimator.fit.free_amounts import column
from estimator.fit.packing import Demand
from tests.estimator.fit.naive import Row, pack_naively
from tests.estimator.fit.worlds import cluster, component, node, requirements

RESOURCES = ("cpu", "memory", "pods")


@pytest.mark.parametrize("seed", range(20))
def test_sets_and_all_that_is_left_come_out_as_the_plain_rule_says(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(100):
        nodes = rng.randint(1, 7)
        rows: list[Row] = [(rng.randrange(40), rng.randrange(0, 60, 3), rng.choice((2, 5, 30))) for _ in range(nodes)]
        masks = [np.array([rng.random() < 0.8 for _ in range(nodes)]) for _ in range(rng.randint(1, 3))]
        set_ = [
            Wanted.of(str(i), rng.randint(1, 3), {"cpu": rng.randrange(6), "memory": rng.randrange(0, 9, 3)}, mask)
            for i, mask in enumerate(masks)
        ]
        demands = [
            Demand(part.replicas, tuple(part.amounts.get(name, 0) for name in RESOURCES), bytes(part.admitted.tolist()))
            for part in set_
        ]
        columns = {name: column([row[i] for row in rows]) for i, name in enumerate(RESOURCES)}
        fit, plain = fit_sets(columns, set_, 2**31 - 1), pack_naively(rows, demands, 2**31 - 1)
        assert (fit.sets, fit.failed, fit.missing) == (plain.sets, plain.failed, plain.missing)
        assert [fit.left[name].tolist() for name in RESOURCES] == plain.left


def test_every_resource_that_is_short_is_told_also_one_that_never_runs_out_first() -> None:
    state = cluster(node("a", cpu="4", memory="4608Mi"), node("b", cpu="4", memory="5000Mi"))
    sets = estimate_sets(state, [component("pod", 1, cpu="1", memory="1Gi")], "default")
    replicas = estimate_replicas(state, requirements(cpu="1", memory="1Gi"))
    assert sets.next_set is not None
    assert sets.next_set == replicas.next_set
    assert [(reason.reason, reason.nodes) for reason in sets.next_set.reasons] == [
        ("insufficient cpu", 2),
        ("insufficient memory", 2),
    ]
