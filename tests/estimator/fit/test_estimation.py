"""Replicas and component sets over whole clusters: the proposals' examples, the methods, the defined answers."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest

from estimator.fit.estimation import estimate_replicas, estimate_sets
from estimator.fit.methods import Method
from estimator.fit.model import NO_LIMIT, AssumedWorkload, Code
from estimator.fit.node_resources import NodeResources
from estimator.fit.packing import Demand
from estimator.fit.state import ClusterState
from interpreters.core.errors import InputError
from interpreters.core.requirements import Component, ReplicaRequirements
from tests.estimator.fit.naive import pack_naively
from tests.estimator.fit.worlds import cluster, component, node, pod, quota, requirements

SUM = Method("sum-and-verify")
FLINK = [component("jobmanager", 1, cpu="1", memory="2G"), component("taskmanager", 2, cpu="1", memory="1G")]


# -- the proposals' own examples --------------------------------------------------------------------------------------


def test_a_quota_of_6_cpu_and_8_gigabytes_takes_two_sets_of_three_replicas() -> None:
    state = cluster(quota("compute", {"cpu": "6", "memory": "8G"}), *(node(f"n{i}") for i in range(5)))
    estimate = estimate_sets(state, FLINK, "default", method=SUM)
    assert (estimate.count, estimate.replicas, estimate.binding) == (
        2,
        6,
        "ResourceQuota: quota default/compute, cpu",
    )
    assert estimate_sets(state, FLINK, "default").count == 2


def test_a_quota_is_worth_nothing_when_one_set_does_not_fit_the_nodes() -> None:
    state = cluster(quota("compute", {"cpu": "6", "memory": "8G"}), *(node(f"n{i}", cpu="900m") for i in range(50)))
    estimate = estimate_sets(state, FLINK, "default", method=SUM)
    assert (estimate.count, estimate.replicas, estimate.code) == (0, 0, Code.UNSCHEDULABLE)


def test_a_pod_of_12_cpu_fits_only_the_cluster_with_a_large_node() -> None:
    many_small = cluster(*(node(f"a{i}", cpu="8") for i in range(20)))
    few_large = cluster(node("b0", cpu="16"), node("b1", cpu="8"))
    wanted = requirements(cpu="12")
    assert estimate_replicas(many_small, wanted).count == 0
    assert estimate_replicas(few_large, wanted).count == 1


def test_a_node_selector_counts_only_the_nodes_it_selects() -> None:
    state = cluster(*(node(f"n{i}", cpu="4", labels={"disk": "ssd" if i < 2 else "hdd"}) for i in range(6)))
    assert estimate_replicas(state, requirements(cpu="2")).count == 12
    assert estimate_replicas(state, requirements({"nodeSelector": {"disk": "ssd"}}, cpu="2")).count == 4
    assert estimate_replicas(state, requirements({"nodeSelector": {"disk": "nvme"}}, cpu="2")).count == 0


@pytest.mark.parametrize("method", [Method(), Method("first-fit-decreasing"), SUM])
def test_a_hundred_nodes_of_one_core_do_not_hold_a_pod_of_two(method: Method) -> None:
    state = cluster(*(node(f"n{i}", cpu="1") for i in range(100)))
    assert estimate_replicas(state, requirements(cpu="2")).count == 0
    assert estimate_sets(state, [component("main", 1, cpu="2")], "default", method=method).count == 0


# -- methods ----------------------------------------------------------------------------------------------------------

SMALL_FIRST = [component("small", 1, cpu="1"), component("large", 1, cpu="3")]
LARGE_FIRST = SMALL_FIRST[::-1]


def test_the_order_of_components_matters_to_whole_sets_and_not_to_first_fit_decreasing() -> None:
    state = cluster(node("a", cpu="3"), node("b", cpu="1"))
    decreasing = Method("first-fit-decreasing")
    counts = [
        estimate_sets(state, set_, "default", method=method).count
        for method in (Method(), decreasing)
        for set_ in (SMALL_FIRST, LARGE_FIRST)
    ]
    assert counts == [0, 1, 1, 1]


SIZES = [
    # replicas sorted by   fits: the memory hog needs the first node, the cpu hog either
    ("cpu", 0),
    ("memory", 1),
    ("product", 1),
]


@pytest.mark.parametrize(("size", "expected"), SIZES)
def test_replicas_are_sorted_by_cpu_memory_or_their_product(size: str, expected: int) -> None:
    state = cluster(node("a", cpu="4", memory="8Gi"), node("b", cpu="4", memory="2Gi"))
    set_ = [component("cpu-hog", 1, cpu="3", memory="1Gi"), component("memory-hog", 1, cpu="2", memory="8Gi")]
    method = Method("first-fit-decreasing", size=size)
    assert estimate_sets(state, set_, "default", method=method).count == expected


ORDERS = [
    # node order    nodes as given          sets: only the anchorage takes anchors, and big pods may fill it
    ("given", ("anchorage", "meadow"), 1),
    ("given", ("meadow", "anchorage"), 2),
    ("most-free", ("anchorage", "meadow"), 2),
    ("least-free", ("meadow", "anchorage"), 1),
]


@pytest.mark.parametrize(("order", "given", "expected"), ORDERS)
def test_nodes_are_tried_in_the_order_asked_for(order: str, given: tuple[str, str], expected: int) -> None:
    nodes = {"anchorage": node("anchorage", cpu="4", labels={"port": "yes"}), "meadow": node("meadow", cpu="6")}
    set_ = [component("big", 1, cpu="3"), component("anchor", 1, {"nodeSelector": {"port": "yes"}}, cpu="1")]
    method = Method("first-fit-decreasing", nodes=order)
    assert estimate_sets(cluster(*(nodes[name] for name in given)), set_, "default", method=method).count == expected


def test_sum_and_verify_divides_what_is_free_on_matching_nodes_when_no_quota_limits() -> None:
    state = cluster(*(node(f"n{i}", cpu="5", memory="100Gi") for i in range(3)), node("closed", unschedulable=True))
    set_ = [component("a", 1, cpu="2"), component("b", 1, cpu="1500m")]
    estimate = estimate_sets(state, set_, "default", method=SUM)
    assert (estimate.count, estimate.replicas, estimate.binding) == (4, 8, "NodeResources: sum of free cpu")
    assert [(lack.resource, lack.wanted, lack.free, lack.lacking) for lack in estimate.shortfalls] == [
        ("cpu", "17500m", "15", "2500m")
    ]


def test_quotas_that_are_switched_off_do_not_decide() -> None:
    state = cluster(quota("compute", {"cpu": "1"}), node("n", cpu="8"))
    set_ = [component("a", 1, cpu="2")]
    assert estimate_sets(state, set_, "default", method=SUM).count == 0
    without = [NodeResources(SUM, quotas=False)]
    assert estimate_sets(state, set_, "default", method=SUM, plugins=without).count == 4


@pytest.mark.parametrize(
    ("name", "size", "nodes", "message"),
    [
        ("best", "cpu", "given", 'unknown method "best": expected whole-sets, first-fit-decreasing, sum-and-verify'),
        ("whole-sets", "disk", "given", 'unknown replica size "disk": expected cpu, memory, product'),
        ("whole-sets", "cpu", "any", 'unknown node order "any": expected given, most-free, least-free'),
    ],
)
def test_a_method_that_does_not_exist_is_named(name: str, size: str, nodes: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        Method(name, size, nodes)
    assert str(caught.value) == message


# -- assumed workloads ------------------------------------------------------------------------------------------------


def assumed(*components: Component, namespace: str = "default") -> AssumedWorkload:
    return AssumedWorkload(list(components), namespace)


def test_an_assumed_workload_is_placed_first() -> None:
    state = cluster(node("a", cpu="4"), node("b", cpu="4"))
    one = [component("main", 1, cpu="2")]
    assert estimate_sets(state, one, "default").count == 4
    assert estimate_sets(state, one, "default", assumed=[assumed(component("w", 3, cpu="2"))]).count == 1
    assert estimate_replicas(state, requirements(cpu="2"), assumed=[assumed(component("w", 3, cpu="2"))]).count == 1


def test_an_assumed_workload_that_does_not_fit_whole_takes_nothing() -> None:
    state = cluster(node("a", cpu="4"), node("b", cpu="4"))
    halves = assumed(component("fits", 1, cpu="4"), component("does-not", 1, cpu="5"), namespace="team")
    estimate = estimate_sets(state, [component("main", 1, cpu="2")], "default", assumed=[halves])
    assert estimate.count == 4
    assert estimate.plugins[0].assumed_left_out == ["assumed workload team/fits+does-not"]


def test_an_assumed_workload_counts_against_the_quota_of_its_own_namespace_only() -> None:
    state = cluster(node("a", cpu="100"), quota("q", {"requests.cpu": "10"}))
    one, other = [component("main", 1, cpu="2")], component("w", 3, cpu="2")
    assert estimate_sets(state, one, "default", assumed=[assumed(other)]).count == 2
    assert estimate_sets(state, one, "default", assumed=[assumed(other, namespace="team")]).count == 5


# -- defined answers --------------------------------------------------------------------------------------------------

WORLD = [node("a", cpu="4", memory="8Gi", pods="10"), node("b", cpu="2", memory="8Gi", pods="3")]

DEFINED = [
    # case                                     components                                                        sets
    ("no components", [], NO_LIMIT),
    ("no replicas at all", [component("a", 0, cpu="1"), component("b", 0)], NO_LIMIT),
    ("negative replicas count as none", [component("a", -3, cpu="1")], NO_LIMIT),
    ("one component without replicas", [component("a", 0, cpu="99"), component("b", 1, cpu="2")], 3),
    ("no requests: only pods count", [component("a", 1)], 13),
    ("no requirements: only pods count", [Component("a", 1)], 13),
    ("requests of zero ask for nothing", [component("a", 1, cpu="0", memory="0")], 13),
    ("negative requests ask for nothing", [component("a", 1, cpu="-5", memory="1Gi")], 11),
    ("a resource nobody offers", [component("a", 1, **{"nvidia.com/gpu": "1"})], 0),
    ("a name without meaning is a resource nobody offers", [component("a", 1, widgets="1")], 0),
    ("none of a resource nobody offers", [component("a", 1, cpu="1", **{"nvidia.com/gpu": "0"})], 6),
    ("pods among the requests are still one pod", [component("a", 1, pods="5")], 13),
    ("more than there is", [component("a", 1, memory="8Ei")], 0),
    ("more than 64 bits hold", [component("a", 1, memory="1e60")], 0),
    ("far more replicas than there is room for", [component("a", 2**31 - 1, cpu="1")], 0),
    ("less than a thousandth of cpu is a thousandth", [component("a", 1, cpu="1n")], 13),
]


@pytest.mark.parametrize(("components", "sets"), [row[1:] for row in DEFINED], ids=[row[0] for row in DEFINED])
@pytest.mark.parametrize("method", ["whole-sets", "first-fit-decreasing"])
def test_unusual_questions_have_defined_answers(method: str, components: list[Component], sets: int) -> None:
    estimate = estimate_sets(cluster(*WORLD), components, "default", method=Method(method))
    assert estimate.count == sets
    assert estimate.code is (Code.SUCCESS if sets else Code.UNSCHEDULABLE)


@pytest.mark.parametrize("method", ["whole-sets", "first-fit-decreasing", "sum-and-verify"])
def test_an_empty_cluster_takes_nothing(method: str) -> None:
    estimate = estimate_sets(ClusterState(), FLINK, "default", method=Method(method))
    assert (estimate.count, estimate.code) == (0, Code.UNSCHEDULABLE)
    assert estimate.next_set is not None
    assert (estimate.next_set.nodes, estimate.next_set.reasons) == (0, [])


def test_no_requirements_fill_every_node_with_pods() -> None:
    assert estimate_replicas(cluster(*WORLD), None).count == 13
    assert estimate_replicas(ClusterState(), None).count == 0


def test_huge_nodes_are_counted_exactly_up_to_what_the_wire_carries() -> None:
    state = cluster(node("a", cpu="1e20", memory="1e40", pods="1e12"), node("b", cpu="3", memory="1", pods="5"))
    assert estimate_replicas(state, requirements(memory="1e39")).count == 10
    assert estimate_replicas(state, requirements(cpu="1")).count == NO_LIMIT
    assert estimate_sets(state, [component("a", 1, memory="1e39", cpu="1")], "default").count == 10
    assert estimate_sets(state, [component("a", 1, cpu="1")], "default").count == NO_LIMIT


def test_a_request_that_is_no_quantity_is_an_error_and_not_a_number() -> None:
    estimate = estimate_sets(cluster(*WORLD), [component("a", 1, cpu="many")], "default")
    assert (estimate.count, estimate.code) == (0, Code.ERROR)
    assert estimate.reasons[0].startswith('NodeResources: component a: resourceRequest.cpu: "many" is not a quantity: ')


# -- the whole way against the plain rule -----------------------------------------------------------------------------


def random_cluster(rng: random.Random) -> tuple[list[dict[str, Any]], list[Component]]:
    """Amounts with large common factors and without, some resources plentiful, some nodes closed to some components."""
    memories, gpus = (
        ["4Gi", "8Gi", "8000000001", "64Gi", rng.choice(["16Gi", "1e25"])],
        [{}, {}, {"nvidia.com/gpu": "2"}],
    )
    nodes = [
        node(
            f"n{i}",
            cpu=rng.choice(["500m", "2", "3900m", "8"]),
            memory=rng.choice(memories),
            pods=rng.choice(["2", "9", "110"]),
            extra=rng.choice(gpus),
            labels={"zone": rng.choice("ab")},
        )
        for i in range(rng.randint(0, 9))
    ]
    set_ = []
    for name in "xyz"[: rng.randint(1, 3)]:
        memory = rng.choice(["0", "1Gi", "1000000001", "3Gi"])
        cpu = rng.choice(["0", "100m", "250m", "1", "1300m"])
        wants = {"cpu": cpu, "memory": memory if rng.random() < 0.95 else "3e24"}
        if rng.random() < 0.15:
            wants["nvidia.com/gpu"] = "1"
        claim = {"nodeSelector": {"zone": "a"}} if rng.random() < 0.3 else None
        set_.append(component(name, rng.randint(0, 3), claim, **wants))
    return nodes, set_


def plain_answer(nodes: list[dict[str, Any]], set_: list[Component]) -> int:
    """Each amount times ten to the ninth, every resource its own column, no shortcut."""
    names = ["cpu", "memory", "nvidia.com/gpu"]
    read = ReplicaRequirements.amounts
    rows, zones = [], []
    for each in nodes:
        amounts = read(ReplicaRequirements(resource_request=each["status"]["allocatable"]))
        rows.append(tuple(amounts[name].nano if name in amounts else 0 for name in [*names, "pods"]))
        zones.append(each["metadata"]["labels"]["zone"])
    demands = []
    for part in set_:
        needs = part.amounts()
        claim = part.replica_requirements and part.replica_requirements.node_claim
        admits = bytes(not claim or zone == "a" for zone in zones)
        need = tuple(needs[name].nano if name in needs else 0 for name in names)
        if part.replicas:
            demands.append(Demand(part.replicas, (*need, 10**9), admits))
    return pack_naively(rows, demands, NO_LIMIT).sets if demands else NO_LIMIT


@pytest.mark.parametrize("seed", range(20))
def test_random_clusters_come_out_as_the_plain_rule_says(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(200):
        nodes, set_ = random_cluster(rng)
        estimate = estimate_sets(cluster(*nodes), set_, "default")
        assert estimate.count == plain_answer(nodes, set_)
        if estimate.next_set is not None:  # then every node has a reason to refuse, at least one
            assert sum(reason.nodes for reason in estimate.next_set.reasons) >= len(nodes)


def test_one_component_of_one_replica_is_the_same_question_as_replicas() -> None:
    rng = random.Random(7)
    for _ in range(200):
        nodes, set_ = random_cluster(rng)
        single = msgspec.structs.replace(set_[0], replicas=1)
        assert single.replica_requirements is not None
        needs = ReplicaRequirements(
            single.replica_requirements.node_claim, single.replica_requirements.resource_request
        )
        state = cluster(*nodes, pod("busy", "n0", cpu="700m"))
        assert estimate_sets(state, [single], "default").count == estimate_replicas(state, needs).count
