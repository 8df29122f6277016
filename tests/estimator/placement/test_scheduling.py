"""Scheduling groups: the proposal's stories, every strategy, and what must hold for any fleet."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimator.placement.affinity import matches
from estimator.placement.decision import Demand, FailureReason, Target, Verdict
from estimator.placement.policy import read_placement
from estimator.placement.scheduling import Past, Question, decide, fail_over
from interpreters.core.kinds import GroupVersionKind
from tests.estimator.placement.fleet import (
    AGGREGATED,
    DUPLICATED,
    DYNAMIC,
    ONE_CLUSTER,
    cluster,
    groups,
    question,
    shares,
    verdicts,
    weighted,
)

THREE = [cluster("local"), cluster("cloud-1"), cluster("cloud-2")]
LOCAL_FIRST = {"clusterAffinities": groups(local=["local"], cloud=["cloud-1", "cloud-2"]),
               "replicaScheduling": AGGREGATED}  # fmt: skip
CENTRES = groups(**{"dc-shanghai": ["unavailable"], "dc-beijing": ["member1"], "dc-hongkong": ["member2"]})


def test_the_local_data_centre_is_preferred_while_it_has_room() -> None:
    found = decide(question(LOCAL_FIRST, THREE, {"local": 10, "cloud-1": 99, "cloud-2": 99}, replicas=10))
    assert (shares(found), found.recorded_affinity_name, found.untried) == ({"local": 10}, "local", ["cloud"])


def test_the_cloud_is_the_backup_when_the_local_data_centre_lacks_room() -> None:
    found = decide(question(LOCAL_FIRST, THREE, {"local": 9, "cloud-1": 8, "cloud-2": 6}, replicas=10))
    assert (shares(found), found.recorded_affinity_name) == ({"cloud-1": 6, "cloud-2": 4}, "cloud")
    local = found.groups[0]
    assert local.failure is not None
    assert local.failure.reason is FailureReason.UNSCHEDULABLE
    assert local.failure.message == "10 replicas wanted, room for 9 in 1 cluster"
    assert verdicts(found, 0) == {
        "local": (Verdict.PASSED_OVER, ""),
        "cloud-1": (Verdict.EXCLUDED, "clusterNames"),
        "cloud-2": (Verdict.EXCLUDED, "clusterNames"),
    }


def test_the_backup_takes_over_when_the_primary_fails() -> None:
    placement = {
        "clusterAffinities": groups(primaries=["primary"], backups=["backup"]),
        "replicaScheduling": DUPLICATED,
    }
    asked = question(placement, [cluster("primary"), cluster("backup")], {"primary": 9, "backup": 9}, replicas=3)
    before = decide(asked)
    assert (shares(before), before.recorded_affinity_name) == ({"primary": 3}, "primaries")
    after = fail_over(asked, before, ["primary"])
    assert (shares(after), after.observed_affinity_name, after.recorded_affinity_name) == (
        {"backup": 3}, "primaries", "backups")  # fmt: skip
    assert verdicts(after, 0)["primary"] == (Verdict.FILTERED, "unavailable")


def test_three_data_centres_are_tried_in_turn() -> None:
    fleet = [cluster("member1"), cluster("member2")]
    asked = question({"clusterAffinities": CENTRES}, fleet, {"member1": 5, "member2": 5}, replicas=2)
    found = decide(asked)
    assert (shares(found), found.recorded_affinity_name) == ({"member1": 2}, "dc-beijing")
    assert found.groups[0].failure is not None
    assert found.groups[0].failure.reason is FailureReason.NO_CLUSTER_FIT
    after = fail_over(asked, found, ["member1"])
    assert (shares(after), after.recorded_affinity_name) == ({"member2": 2}, "dc-hongkong")
    assert [group.name for group in after.groups] == ["dc-beijing", "dc-hongkong"]


def test_failover_stays_in_the_group_while_it_has_room_and_keeps_what_runs() -> None:
    placement = {
        **LOCAL_FIRST,
        "clusterAffinities": groups(all=["a", "b", "c"], rest=["d"]),
        "replicaScheduling": DYNAMIC,
    }
    fleet = [cluster(name) for name in "abcd"]
    asked = question(placement, fleet, {"a": 6, "b": 6, "c": 6, "d": 99}, replicas=6)
    before = decide(asked)
    assert shares(before) == {"a": 2, "b": 2, "c": 2}
    after = fail_over(asked, before, ["c"])
    assert (shares(after), after.recorded_affinity_name) == ({"a": 3, "b": 3}, "all")


STARTS = [  # observed, reschedule, groups tried
    ("", False, ["one", "two", "three"]),
    ("two", False, ["two", "three"]),
    ("three", False, ["three"]),
    ("gone", False, ["one", "two", "three"]),
    ("two", True, ["one", "two", "three"]),
]


@pytest.mark.parametrize(("observed", "reschedule", "tried"), STARTS)
def test_the_search_starts_at_the_observed_group(observed: str, reschedule: bool, tried: list[str]) -> None:
    placement = {"clusterAffinities": groups(one=["a"], two=["a"], three=["a"]), "replicaScheduling": AGGREGATED}
    found = decide(question(placement, [cluster("a")], {"a": 1}, replicas=2), Past(observed, reschedule=reschedule))
    assert [group.name for group in found.groups] == tried
    assert (found.scheduled, found.recorded_affinity_name) == (False, observed)


FAILURES = [  # the first group's cluster, the reason, what stays of spec.clusters
    (cluster("a", ready="False"), FailureReason.NO_CLUSTER_FIT, {}),
    (cluster("a"), FailureReason.UNSCHEDULABLE, {"z": 1}),
]


@pytest.mark.parametrize(("first", "reason", "kept"), FAILURES)
def test_when_all_fail_the_first_error_decides_what_stays(
    first: Any, reason: FailureReason, kept: dict[str, int]
) -> None:
    placement = {"clusterAffinities": groups(one=["a"], two=["b"]), "replicaScheduling": AGGREGATED}
    asked = question(placement, [first, cluster("b"), cluster("z")], {"a": 1, "b": 1}, replicas=5)
    found = decide(asked, Past("", [Target("z", 1)]))
    assert found.failure is not None
    assert (found.scheduled, found.failure.reason, shares(found)) == (False, reason, kept)
    assert found.failure == found.groups[0].failure


def test_every_cluster_gets_its_verdict() -> None:
    term = {
        "affinityName": "all", "labelSelector": {"matchLabels": {"tier": "gold"}}, "exclude": ["never"],
        "fieldSelector": {"matchExpressions": [{"key": "region", "operator": "In", "values": ["north"]}]},
        "clusterNames": ["never", "iron", "south", "tainted", "down", "bare", "good", "spare"],
    }  # fmt: skip
    gold = {"labels": {"tier": "gold"}, "region": "north"}
    fleet = [
        cluster("never", **gold),
        cluster("iron", region="north"),
        cluster("south", labels={"tier": "gold"}, region="south"),
        cluster("unnamed", **gold),
        cluster("tainted", taints=["x:NoSchedule"], **gold),
        cluster("down", ready="Unknown", **gold),
        cluster("bare", apis=["v1 Pod"], **gold),
        cluster("good", **gold),
        cluster("spare", **gold),
    ]
    placement = {"clusterAffinities": [term], "spreadConstraints": ONE_CLUSTER, "replicaScheduling": AGGREGATED}
    found = decide(question(placement, fleet, {"good": 4, "spare": 3}, sets=True))
    assert verdicts(found) == {
        "never": (Verdict.EXCLUDED, "exclude"),
        "iron": (Verdict.EXCLUDED, "labelSelector"),
        "south": (Verdict.EXCLUDED, "fieldSelector"),
        "unnamed": (Verdict.EXCLUDED, "clusterNames"),
        "tainted": (Verdict.FILTERED, "taint"),
        "down": (Verdict.FILTERED, "notReady"),
        "bare": (Verdict.FILTERED, "api"),
        "good": (Verdict.CHOSEN, ""),
        "spare": (Verdict.PASSED_OVER, ""),
    }
    good = next(one for one in found.groups[0].clusters if one.cluster == "good")
    assert (good.available, good.bound_by, good.replicas) == (4, "free cpu", None)


FREE = {"a": 8, "b": 6, "c": 2}
STRATEGIES = [  # replica scheduling, replicas, shares
    (None, 5, {"a": 5, "b": 5, "c": 5}),
    (DUPLICATED, 5, {"a": 5, "b": 5, "c": 5}),
    (AGGREGATED, 5, {"a": 5}),
    (AGGREGATED, 10, {"a": 6, "b": 4}),
    (DYNAMIC, 8, {"a": 4, "b": 3, "c": 1}),
    (weighted(a=1, b=2), 9, {"a": 3, "b": 6}),
    (weighted(a=1, b=3), 9, {"a": 2, "b": 7}),
    (weighted(z=1), 6, {"a": 2, "b": 2, "c": 2}),
    ({"replicaSchedulingType": "Divided"}, 7, {"a": 3, "b": 2, "c": 2}),
    (DYNAMIC, 17, "17 replicas wanted, room for 16 in 3 clusters"),
    (AGGREGATED, 0, {}),
]


@pytest.mark.parametrize(("scheduling", "replicas", "expected"), STRATEGIES)
def test_strategies_share_out_replicas(scheduling: dict[str, Any] | None, replicas: int, expected: Any) -> None:
    found = decide(question({"replicaScheduling": scheduling}, [cluster(name) for name in "abc"], FREE, replicas))
    assert (found.failure.message if found.failure else shares(found)) == expected


PASTS = [  # what runs, replicas, shares: kept, scaled up, scaled down, afresh
    ({"c": 5}, 5, False, {"c": 5}),
    ({"c": 5}, 6, False, {"c": 6}),
    ({"a": 6, "b": 3}, 6, False, {"a": 6}),
    ({"c": 5}, 6, True, {"a": 6}),
]


@pytest.mark.parametrize(("held", "replicas", "fresh", "expected"), PASTS)
def test_what_runs_already_is_kept(held: dict[str, int], replicas: int, fresh: bool, expected: dict[str, int]) -> None:
    past = Past("", [Target(name, count) for name, count in held.items()], reschedule=fresh)
    asked = question({"replicaScheduling": AGGREGATED}, [cluster(name) for name in "abc"], FREE, replicas)
    assert shares(decide(asked, past)) == expected


def test_overflow_affinities_take_what_the_group_cannot() -> None:
    term = {**groups(main=["a"])[0], "overflowAffinities": groups(more=["b"], most=["c"])}
    placement = {"clusterAffinities": [term], "replicaScheduling": AGGREGATED}
    fleet = [cluster(name) for name in "abc"]
    for replicas, expected in ((8, {"a": 8}), (10, {"a": 8, "b": 2}), (15, {"a": 8, "b": 6, "c": 1}), (17, {})):
        assert shares(decide(question(placement, fleet, FREE, replicas))) == expected


SETS = [  # spread constraints, replica scheduling, free sets, where the whole of it goes
    (ONE_CLUSTER, AGGREGATED, {"a": 0, "b": 2, "c": 1}, ["b"]),
    (ONE_CLUSTER, AGGREGATED, {"a": 0, "b": 0, "c": 0}, []),
    (ONE_CLUSTER, DUPLICATED, {"a": 0, "b": 0, "c": 0}, ["a"]),
    ([], AGGREGATED, {"a": 0, "b": 2, "c": 1}, ["b", "c", "a"]),
]


@pytest.mark.parametrize(("spread", "scheduling", "free", "expected"), SETS)
def test_several_components_go_whole(
    spread: list[dict[str, Any]], scheduling: dict[str, Any], free: dict[str, int], expected: list[str]
) -> None:
    placement = {"spreadConstraints": spread, "replicaScheduling": scheduling}
    found = decide(question(placement, [cluster(name) for name in "abc"], free, sets=True))
    assert [(target.name, target.replicas) for target in found.clusters] == [(name, None) for name in expected]


def test_an_object_without_pods_asks_for_no_estimate_and_goes_to_all() -> None:
    def refuse(name: str) -> None:
        raise AssertionError(name)

    config = Demand(GroupVersionKind("", "v1", "ConfigMap"))
    asked = Question(read_placement({"replicaScheduling": AGGREGATED}), [cluster("b"), cluster("a")], config, refuse)
    assert shares(decide(asked)) == {"a": None, "b": None}


def test_a_cluster_that_nobody_estimates_counts_with_what_is_wanted() -> None:
    found = decide(question({"replicaScheduling": DYNAMIC}, [cluster("a"), cluster("b")], {"b": 10}, replicas=10))
    assert shares(found) == {"a": 5, "b": 5}


def test_a_cluster_in_several_groups_is_estimated_once() -> None:
    asked: list[str] = []
    base = question({"clusterAffinities": groups(x=["a"], y=["a"]), "replicaScheduling": AGGREGATED}, [cluster("a")],
                    {"a": 1}, replicas=2)  # fmt: skip
    decide(Question(base.placement, base.clusters, base.demand, lambda name: asked.append(name) or base.estimate(name)))
    assert asked == ["a"]


NAMES = "abcdef"
FLEETS = st.fixed_dictionaries({name: st.integers(0, 20) for name in NAMES})
GROUPS = st.lists(st.sets(st.sampled_from(NAMES), min_size=1), min_size=1, max_size=4)
DIVIDED = st.sampled_from([AGGREGATED, DYNAMIC, weighted(a=3, b=1, c=2), {"replicaSchedulingType": "Divided"}])


@settings(max_examples=200)
@given(FLEETS, GROUPS, DIVIDED, st.integers(1, 60), st.sampled_from(NAMES))
def test_replicas_add_up_inside_the_winning_group(
    free: dict[str, int], members: list[set[str]], scheduling: dict[str, Any], replicas: int, lost: str
) -> None:
    terms = groups(**{f"g{i}": sorted(names) for i, names in enumerate(members)})
    placement = {"clusterAffinities": terms, "replicaScheduling": scheduling}
    fleet = [cluster(name) for name in NAMES]
    asked = question(placement, fleet, free, replicas)
    before = decide(asked)
    for found in (before, fail_over(asked, before, [lost])):
        if not found.scheduled:
            continue
        assert sum(target.replicas or 0 for target in found.clusters) == replicas
        term = next(one for one in asked.placement.groups if one.affinity_name == found.recorded_affinity_name)
        chosen = {one.name: one for one in fleet}
        assert all(matches(chosen[target.name], term) for target in found.clusters)
        if scheduling in (AGGREGATED, DYNAMIC):
            assert all((target.replicas or 0) <= free[target.name] for target in found.clusters)
    assert lost not in {target.name for target in fail_over(asked, before, [lost]).clusters}
    assert decide(asked) == before
