"""Which clusters the spread constraints choose: by cluster, and by region, zone or provider."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimator.placement.decision import Demand, Failure
from estimator.placement.policy import read_placement
from estimator.placement.spread import Candidate, choose
from interpreters.core.requirements import Component
from tests.estimator.placement.fleet import AGGREGATED, DEPLOYMENT, DUPLICATED, cluster, weighted


def candidates(text: str) -> list[Candidate]:
    """`name:free@region`, a star for clusters that have the workload; the region is provider and zones as well."""
    found = []
    for word in text.split():
        name, _, rest = word.partition(":")
        free, _, place = rest.partition("@")
        held = name.endswith("*")
        spec = {"region": place, "provider": place, "zones": place.split("+") if place else []}
        found.append(Candidate(cluster(name.rstrip("*"), **spec), int(free), position=0 if held else None))
    return found


def by(*constraints: str) -> list[dict[str, Any]]:
    """`cluster 1..2`; nothing behind the dots is no maximum."""
    found = []
    for text in constraints:
        field, _, numbers = text.partition(" ")
        least, _, most = numbers.partition("..")
        found.append({"spreadByField": field, "minGroups": int(least), "maxGroups": int(most or 0)})
    return found


WEB = Demand(DEPLOYMENT, (Component("main", 80),))
WHOLE = Demand(DEPLOYMENT, (Component("a", 1), Component("b", 2)))
DIVIDED, COPIED, WEIGHTED, SETS = (AGGREGATED, WEB), (DUPLICATED, WEB), (weighted(a=1), WEB), (AGGREGATED, WHOLE)
CASES = [  # what it shows, candidates, constraints, how, names chosen or part of the failure
    ("no constraint takes all, roomiest first", "b:1 a:2 c:2", [], DIVIDED, "a c b"),
    ("those that have it come first", "b:1 a:2 c*:0", [], DIVIDED, "c a b"),
    ("the first of so many", "a:90 b:80 c:70", by("cluster 1..2"), DIVIDED, "a b"),
    ("no maximum", "a:90 b:80 c:70", by("cluster 1.."), DIVIDED, "a b c"),
    ("too few clusters", "a:90", by("cluster 2..3"), DIVIDED, "1 clusters could take it"),
    ("the last is exchanged for room", "a*:40 b*:30 c:60", by("cluster 1..2"), DIVIDED, "a c"),
    ("no two have room", "a:40 b:30 c:20", by("cluster 1..2"), DIVIDED, "no 2 clusters have room"),
    ("duplicated looks at no room", "a:0 b:0 c:1", by("cluster 1..2"), COPIED, "c a"),
    ("sets need room for one", "a:0 b:3 c:1", by("cluster 1..1"), SETS, "b"),
    ("sets without room", "a:0 b:0", by("cluster 1..1"), SETS, "no cluster has room for 1 set"),
    ("static weights name clusters themselves", "a:1 b:9", by("cluster 1..1"), WEIGHTED, "b a"),
    ("the best of each region", "a:50@n b:40@n c:30@s", by("region 2..2", "cluster 2..2"), DIVIDED, "a c"),
    ("then fill up in order", "a:50@n b:40@n c:30@s d:20@s", by("region 2..2", "cluster 2..3"), DIVIDED, "a c b"),
    ("too few regions", "a:50@n b:40@n", by("region 2..2", "cluster 2..2"), DIVIDED, "1 regions could take it"),
    ("the fewest regions that do", "a:90@n b:90@s c:90@w", by("region 1..3", "cluster 1..1"), DIVIDED, "a"),
    ("regions with clusters enough", "a:90@n b:9@s c:9@s d:9@s", by("region 1..1", "cluster 3..3"), DIVIDED, "b c d"),
    ("no region has clusters enough", "a:9@n b:9@s", by("region 1..1", "cluster 2..2"), DIVIDED, "no 1 regions have"),
    ("the region that can take its part", "a:10@n b:90@s", by("region 1..1", "cluster 1..1"), DIVIDED, "b"),
    ("duplicated: more clusters with room", "a:90@n b:80@s c:80@s", by("region 1..1", "cluster 1..2"), COPIED, "b c"),
    ("by provider", "a:50@n b:40@n c:30@s", by("provider 2..2", "cluster 2..2"), DIVIDED, "a c"),
    ("by zone, one cluster in two", "a:50@n+s b:40@n c:30@w", by("zone 2..2", "cluster 2..2"), DIVIDED, "a b"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "constraints", "how", "expected"), [case[1:] for case in CASES],
                         ids=[case[0] for case in CASES])  # fmt: skip
def test_constraints_choose_clusters(
    text: str, constraints: list[dict[str, Any]], how: tuple[dict[str, Any], Demand], expected: str
) -> None:
    strategy, demand = how
    placement = read_placement({"spreadConstraints": constraints, "replicaScheduling": strategy})
    chosen = choose(candidates(text), placement, demand)
    if isinstance(chosen, Failure):
        assert expected in chosen.message
    else:
        assert " ".join(one.name for one in chosen) == expected


WORDS = st.lists(st.tuples(st.integers(0, 50), st.sampled_from("nsw")), min_size=1, max_size=8)
BOUNDS = st.tuples(st.integers(1, 3), st.integers(0, 3))


@settings(max_examples=200)
@given(WORDS, BOUNDS, BOUNDS)
def test_what_is_chosen_satisfies_the_constraints(
    fleet: list[tuple[int, str]], by_region: tuple[int, int], by_cluster: tuple[int, int]
) -> None:
    members = candidates(" ".join(f"c{i}:{free}@{region}" for i, (free, region) in enumerate(fleet)))
    (regions, more), (clusters, others) = by_region, by_cluster
    constraints = by(f"region {regions}..{regions + more}", f"cluster {clusters}..{clusters + others}")
    placement = read_placement({"spreadConstraints": constraints, "replicaScheduling": AGGREGATED})
    chosen = choose(members, placement, WEB)
    if isinstance(chosen, Failure):
        return
    names = [one.name for one in chosen]
    assert len(names) == len(set(names)) >= clusters
    used = {one.cluster.spec.region for one in chosen}
    assert regions <= len(used) <= regions + more
    assert len(names) <= max(clusters + others, len(used))
