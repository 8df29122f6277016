"""What a binding says of the past counts: evictions, a reschedule that was asked for, and workloads beside it."""

from __future__ import annotations

from typing import Any

import pytest

from estimator.placement.decision import Verdict
from estimator.placement.filters import obstacle
from estimator.placement.history import read_past
from estimator.placement.policy import read_placement
from estimator.placement.scheduling import Question, decide
from estimator.placement.workload_affinity import ALONE, AffinityPeer, AffinityPeers, affinity_groups, peer, peers_of
from interpreters.core.errors import InputError
from interpreters.core.karmada.releases import KARMADA_1_18, KARMADA_1_19, Release
from tests.estimator.placement.fleet import DEPLOYMENT, DYNAMIC, cluster, groups, question, shares, verdicts

FLEET = [cluster("a"), cluster("b"), cluster("c")]
GROUPS = {"clusterAffinities": groups(first=["a"], second=["b", "c"]), "replicaScheduling": DYNAMIC}
EARLY, LATE = "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"


def binding(
    *clusters: dict[str, Any], observed: str = "second", evict: tuple[str, ...] = (), triggered: str | None = None,
    scheduled: str | None = None,
) -> dict[str, Any]:  # fmt: skip
    tasks = [{"fromCluster": name, "reason": "TaintUntolerated", "producer": "TaintManager"} for name in evict]
    return {
        "kind": "ResourceBinding",
        "spec": {"clusters": list(clusters), "gracefulEvictionTasks": tasks, "rescheduleTriggeredAt": triggered},
        "status": {"schedulerObservingAffinityName": observed, "lastScheduledTime": scheduled},
    }


TARGETS = ({"name": "b", "replicas": 2}, {"name": "c", "replicas": 1})


@pytest.mark.parametrize(
    ("triggered", "scheduled", "release", "tried", "targets"),
    [
        (None, EARLY, KARMADA_1_19, ["second"], {"b": 2, "c": 1}),
        (EARLY, LATE, KARMADA_1_19, ["second"], {"b": 2, "c": 1}),
        (EARLY, EARLY, KARMADA_1_19, ["second"], {"b": 2, "c": 1}),
        (LATE, None, KARMADA_1_19, ["second"], {"b": 2, "c": 1}),
        (LATE, EARLY, KARMADA_1_19, ["first"], {"a": 3}),
        ("2026-01-01T01:00:00+01:00", EARLY, KARMADA_1_19, ["second"], {"b": 2, "c": 1}),
        (LATE, EARLY, KARMADA_1_18, ["second"], {"b": 1, "c": 2}),
    ],
    ids=["never asked", "asked before", "same second", "never scheduled", "asked since", "other zone", "1.18"],
)
def test_a_reschedule_asked_for_since_starts_at_the_first_group(
    triggered: str | None, scheduled: str | None, release: Release, tried: list[str], targets: dict[str, int]
) -> None:
    """Karmada 1.18 shares out afresh in the group it had; from 1.19 on the groups are tried from the first again."""
    past = read_past(binding(*TARGETS, triggered=triggered, scheduled=scheduled), release=release)
    found = decide(question(GROUPS, FLEET, {"a": 9, "b": 0, "c": 5}, replicas=3), past)
    assert [group.name for group in found.groups] == tried
    assert shares(found) == targets


def test_a_time_that_cannot_be_read_is_named() -> None:
    with pytest.raises(InputError, match=r"spec.rescheduleTriggeredAt: expected a time such as .*, got \"tomorrow\""):
        read_past(binding(triggered="tomorrow", scheduled=EARLY))
    with pytest.raises(InputError, match="status.lastScheduledTime"):
        read_past(binding(triggered=EARLY, scheduled="2026-01-01T00:00:00"))


def test_a_cluster_that_is_being_evicted_takes_nothing_even_if_it_had_it() -> None:
    past = read_past(binding({"name": "b", "replicas": 1}, evict=("b",)))
    found = decide(question(GROUPS, FLEET, {"a": 9, "b": 9, "c": 9}, replicas=3), past)
    assert shares(found) == {"c": 3}
    assert verdicts(found)["b"] == (Verdict.FILTERED, "eviction")
    (evicted,) = (one for one in found.groups[0].clusters if one.cluster == "b")
    assert evicted.detail == "the workload is being evicted from it by TaintManager (TaintUntolerated)"


def test_scheduled_components_of_1_19_are_read_over() -> None:
    recorded = {"name": "b", "components": [{"name": "jobmanager", "replicas": 1}]}
    assert read_past(binding(recorded)).held == {"b": None}


TERMS = {"affinity": {"groupByLabelKey": "app"}, "antiAffinity": {"groupByLabelKey": "rack"}}
AFFINITY = read_placement({"workloadAffinity": TERMS}).workload_affinity


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({"app": "shop", "rack": "1"}, {"affinityGroup": "app=shop", "antiAffinityGroup": "rack=1"}),
        ({"app": ""}, {"affinityGroup": "app="}),
        ({"other": "x"}, {}),
    ],
)
def test_labels_make_the_groups_of_a_binding(labels: dict[str, str], expected: dict[str, str]) -> None:
    assert affinity_groups(AFFINITY, labels) == expected
    assert affinity_groups(None, labels) == {}


TOGETHER = AffinityPeer("front", affinity_group="app=shop", clusters=frozenset({"a", "b"}))
APART = AffinityPeer("rival", anti_affinity_group="rack=1", clusters=frozenset({"b"}))
NOWHERE = AffinityPeer("new", "app=shop", "rack=1")


@pytest.mark.parametrize(
    ("peers", "filtered"),
    [
        (ALONE, {}),
        (peers_of("me", {"affinityGroup": "app=shop"}, [TOGETHER, NOWHERE]), {"c": "together"}),
        (peers_of("me", {"antiAffinityGroup": "rack=1"}, [APART, NOWHERE]), {"b": "apart"}),
        (peers_of("me", {"affinityGroup": "app=shop", "antiAffinityGroup": "rack=1"}, [TOGETHER, APART]),
         {"b": "apart", "c": "together"}),
        (peers_of("front", {"affinityGroup": "app=shop"}, [TOGETHER]), {}),
        (peers_of("me", {}, [TOGETHER, APART]), {}),
    ],
)  # fmt: skip
def test_workloads_are_kept_together_and_apart(peers: AffinityPeers, filtered: dict[str, str]) -> None:
    asked = question({}, FLEET, {}, replicas=1)
    found = decide(Question(asked.placement, FLEET, asked.demand, asked.estimate, peers=peers))
    assert {name: by for name, (verdict, by) in verdicts(found).items() if verdict is Verdict.FILTERED} == filtered


def test_a_cluster_that_has_the_workload_keeps_it_in_spite_of_others() -> None:
    peers = peers_of("me", {"antiAffinityGroup": "rack=1"}, [APART])
    assert obstacle(cluster("b"), read_placement({}), DEPLOYMENT, peers=peers) is not None
    assert obstacle(cluster("b"), read_placement({}), DEPLOYMENT, peers=peers, is_target=True) is None


def test_a_binding_is_another_ones_companion() -> None:
    other = {"metadata": {"name": "rival"}, "spec": {"clusters": [{"name": "b"}],
             "workloadAffinityGroups": {"antiAffinityGroup": "rack=1"}}}  # fmt: skip
    assert peer(other) == APART
