"""The state of a cluster, change by change, is what it would be if it were read anew."""

from __future__ import annotations

import random
from typing import Any

import pytest

from estimator.fit.state import ClusterState
from interpreters.core.errors import InputError
from interpreters.core.resources import PODS
from tests.estimator.fit.worlds import cluster, node, pod, quota


def free(state: ClusterState, name: str) -> dict[str, int]:
    view = state.view()
    row = view.node_index.index[name]
    return {resource: int(values[row]) for resource, values in view.columns.items()}


def amounts_by_node(state: ClusterState) -> dict[str, dict[str, int]]:
    return {
        each.name: {resource: amount for resource, amount in free(state, each.name).items() if amount}
        for each in state.view().node_index.nodes
    }


def test_pods_take_from_their_node_and_give_back() -> None:
    state = cluster(node("a", cpu="4", memory="8Gi", pods="10"))
    state.upsert_pod(pod("p", "a", cpu="1500m", memory="1Gi"))
    assert free(state, "a") == {"cpu": 2500, "memory": 7 * 2**30, PODS: 9}
    state.upsert_pod(pod("p", "a", cpu="1", memory="1Gi"))
    assert free(state, "a")["cpu"] == 3000
    state.remove_pod("default", "p")
    assert free(state, "a") == {"cpu": 4000, "memory": 8 * 2**30, PODS: 10}


@pytest.mark.parametrize("phase", ["Pending", "Running", "Unknown", ""])
def test_a_pod_with_a_node_counts_whether_it_runs_or_not(phase: str) -> None:
    assert free(cluster(node("a"), pod("p", "a", phase=phase, cpu="1")), "a")["cpu"] == 3000


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_pod_that_terminates_no_longer_counts(phase: str) -> None:
    state = cluster(node("a"), pod("p", "a", cpu="1"))
    state.upsert_pod(pod("p", "a", phase=phase, cpu="1"))
    assert free(state, "a")["cpu"] == 4000
    assert state.pod_count == 0


def test_a_pod_without_a_node_counts_nowhere() -> None:
    assert free(cluster(node("a"), pod("p", None, cpu="1")), "a")["cpu"] == 4000


def test_a_pod_on_an_unknown_node_counts_when_the_node_appears_and_again_when_it_comes_back() -> None:
    state = cluster(pod("p", "late", cpu="1"), node("a"))
    assert state.view().node_index.index == {"a": 0}
    state.upsert_node(node("late"))
    assert free(state, "late")["cpu"] == 3000
    state.remove_node("late")
    assert len(state.view().node_index) == 1
    state.upsert_node(node("late"))
    assert free(state, "late")["cpu"] == 3000


def test_a_pod_that_moves_leaves_its_old_node() -> None:
    state = cluster(node("a"), node("b"), pod("p", "a", cpu="1"))
    state.upsert_pod(pod("p", "b", cpu="1"))
    assert (free(state, "a")["cpu"], free(state, "b")["cpu"]) == (4000, 3000)


def test_an_overfull_node_has_nothing_free_rather_than_less() -> None:
    assert free(cluster(node("a", cpu="1", pods="1"), pod("p", "a", cpu="3"), pod("q", "a")), "a")["cpu"] == 0
    assert free(cluster(node("a", pods="1"), pod("p", "a"), pod("q", "a")), "a")[PODS] == 0


def test_a_view_does_not_change_afterwards() -> None:
    state = cluster(node("a"))
    before = state.view()
    state.upsert_pod(pod("p", "a", cpu="1"))
    assert state.view() is not before
    assert before.free("cpu").tolist() == [4000]


def test_the_same_node_reported_again_changes_nothing() -> None:
    state = cluster(node("a"))
    before = state.view()
    state.upsert_node(node("a"))
    assert state.view() is before


def test_a_changed_allocatable_keeps_what_is_known_of_labels() -> None:
    state = cluster(node("a"), node("b"))
    before = state.view()
    state.upsert_node(node("a", cpu="8"))
    assert state.view().node_index is before.node_index
    assert state.view().free("cpu").tolist() == [8000, 4000]
    state.upsert_node(node("a", cpu="8", labels={"disk": "ssd"}))
    assert state.view().node_index is not before.node_index
    assert state.view().node_index.nodes[0].labels == {"disk": "ssd"}


def test_amounts_beyond_64_bits_are_kept_exact() -> None:
    state = cluster(node("a"), node("b", memory="1e30"))
    assert state.view().free("memory").tolist() == [16 * 2**30, 10**30]
    state.upsert_node(node("a", memory="1e31"))
    assert state.view().free("memory").tolist() == [10**31, 10**30]


def test_quotas_come_and_go_by_namespace() -> None:
    state = cluster(quota("b", {"cpu": "1"}), quota("a", {"cpu": "1"}), quota("c", {"cpu": "1"}, namespace="other"))
    assert [found.name for found in state.quotas("default")] == ["a", "b"]
    state.remove_quota("default", "a")
    state.remove_quota("nowhere", "a")
    assert [found.name for found in state.quotas("default")] == ["b"]


def test_other_kinds_are_refused() -> None:
    with pytest.raises(InputError, match='Node, Pod and ResourceQuota objects, got kind "Service"'):
        cluster({"kind": "Service"})


def change(rng: random.Random, state: ClusterState, nodes: dict[str, Any], pods: dict[str, Any]) -> None:
    """One random event, made in the state and in the plain books beside it."""
    name = f"node-{rng.randrange(5)}"
    match rng.randrange(6):
        case 0:
            nodes[name] = node(
                name,
                cpu=str(rng.randint(1, 9)),
                labels={"v": str(rng.randrange(2))},
                extra=rng.choice([{}, {"a/b": "3"}]),
            )
            state.upsert_node(nodes[name])
        case 1:
            nodes.pop(name, None)
            state.remove_node(name)
        case 2:
            key = f"pod-{rng.randrange(12)}"
            pods.pop(key, None)
            state.remove_pod("default", key)
        case _:
            key = f"pod-{rng.randrange(12)}"
            phase = rng.choice(["Running", "Running", "Pending", "Succeeded"])
            pods[key] = pod(key, rng.choice([name, name, None]), phase=phase, cpu=f"{rng.randint(0, 3000)}m")
            state.upsert_pod(pods[key])


@pytest.mark.parametrize("seed", range(40))
def test_many_changes_end_where_a_fresh_start_ends(seed: int) -> None:
    rng, state = random.Random(seed), ClusterState()
    nodes: dict[str, Any] = {}
    pods: dict[str, Any] = {}
    for step in range(200):
        change(rng, state, nodes, pods)
        if step % 7 == 0:
            assert amounts_by_node(state) == amounts_by_node(ClusterState([*nodes.values(), *pods.values()]))


BROKEN = [
    (node("a", cpu="four"), 'Node a: status.allocatable.cpu: "four" is not a quantity'),
    (pod("p", "a", cpu="1 core"), "Pod default/p: "),
    (quota("q", {"cpu": "ten"}), 'ResourceQuota default/q: spec.hard.cpu: "ten" is not a quantity'),
]


@pytest.mark.parametrize(("item", "message"), BROKEN)
def test_an_object_that_cannot_be_read_is_named_and_changes_nothing(item: dict[str, Any], message: str) -> None:
    state = cluster(node("a"), pod("p", "a", cpu="1"), quota("q", {"cpu": "1"}))
    before = amounts_by_node(state)
    with pytest.raises(InputError) as caught:
        state.upsert(item)
    assert str(caught.value).startswith(message)
    assert "is not a quantity" in str(caught.value)
    assert amounts_by_node(state) == before
    assert len(state.quotas("default")) == 1
