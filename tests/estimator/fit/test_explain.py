"""What an estimate says: to people in lines, to programs in JSON, and both from the same data as the number."""

from __future__ import annotations

import msgspec

from estimator.fit.estimation import estimate_replicas, estimate_sets
from estimator.fit.explain import explain
from estimator.fit.model import Code, Estimate
from estimator.fit.state import ClusterState
from tests.estimator.fit.worlds import cluster, component, node, pod, quota, requirements

GPU_TAINT = {"key": "gpu", "value": "true", "effect": "NoSchedule"}
FIVE = [
    node("n0", cpu="4", memory="8Gi"),
    node("n1", cpu="4", memory="8Gi", labels={"disk": "ssd"}),
    node("n2", cpu="2", memory="8Gi", labels={"disk": "ssd"}),
    node("n3", cpu="16", taints=[GPU_TAINT]),
    node("n4", cpu="16", taints=[GPU_TAINT]),
    pod("busy", "n0", cpu="1", memory="6Gi"),
]
SET = [
    component("jobmanager", 1, cpu="1", memory="1Gi"),
    component("taskmanager", 2, {"nodeSelector": {"disk": "ssd"}}, cpu="1500m", memory="1Gi"),
]


def test_sets_on_nodes_in_words() -> None:
    assert explain(estimate_sets(cluster(*FIVE), SET, "default"), "member1").splitlines() == [
        "member1: 1 set (3 replicas), bound by NodeResources: taskmanager: insufficient cpu",
        "  NodeResources allows 1 (taskmanager: insufficient cpu)",
        "  ResourceQuota allows any number",
        "  jobmanager x 1: 3/5 nodes match; 2 had untolerated taint {gpu: true}",
        "  taskmanager x 2: 2/5 nodes match; 2 had untolerated taint {gpu: true}, "
        "1 didn't match the pod's node affinity/selector",
        "  set 2: no place for 1 of 2 taskmanager: 0/5 nodes are available: 2 had untolerated taint {gpu: true}, "
        "1 didn't match the pod's node affinity/selector, 2 insufficient cpu",
        "  on n1, the closest node, cpu: wanted 1500m, free 1, lacking 500m",
    ]


def test_replicas_on_nodes_in_words() -> None:
    assert explain(estimate_replicas(cluster(*FIVE), requirements(cpu="3", memory="3Gi"))).splitlines() == [
        "1 replica, bound by NodeResources: pod: insufficient cpu",
        "  NodeResources allows 1 (pod: insufficient cpu)",
        "  ResourceQuota allows any number",
        "  pod x 1: 3/5 nodes match; 2 had untolerated taint {gpu: true}",
        "  the next pod: 0/5 nodes are available: 2 had untolerated taint {gpu: true}, 2 insufficient cpu, "
        "1 insufficient memory",
        "  on n0, the closest node, memory: wanted 3Gi, free 2Gi, lacking 1Gi",
    ]


def test_a_quota_in_words() -> None:
    state = cluster(node("a", cpu="100"), quota("compute", {"cpu": "8"}, {"cpu": "1"}))
    assert explain(estimate_sets(state, [component("main", 2, cpu="1500m")], "default"), "b").splitlines() == [
        "b: 2 sets (4 replicas), bound by ResourceQuota: quota default/compute, cpu",
        "  NodeResources allows 33 (main: insufficient cpu)",
        "  ResourceQuota allows 2 (quota default/compute, cpu)",
        "  main x 2: 1/1 nodes match",
        "  cpu: wanted 9, free 7, lacking 2",
        "  NodeResources: set 34: no place for 2 of 2 main: 0/1 nodes are available: 1 insufficient cpu",
        "  ResourceQuota: quota default/compute has 7 cpu free, 2 short of 3 times 3",
    ]


def test_no_limit_and_no_answer_in_words() -> None:
    assert explain(estimate_sets(ClusterState(), [], "default")).splitlines()[0] == "any number of sets"
    failed = Estimate("sets", 0, Code.ERROR, ["GpuPool: no such pool"])
    assert explain(failed, "b") == "b: no answer: GpuPool: no such pool"


def test_an_estimate_survives_json() -> None:
    estimate = estimate_sets(cluster(*FIVE), SET, "default")
    again = msgspec.json.decode(msgspec.json.encode(estimate), type=Estimate)
    assert again == estimate
    wire = msgspec.json.decode(msgspec.json.encode(estimate))
    assert (wire["count"], wire["nextSet"]["component"], wire["components"][0]["matching"]) == (1, "taskmanager", 3)


def test_the_shortfall_says_just_what_would_let_the_next_set_in() -> None:
    lacking = estimate_sets(cluster(*FIVE), SET, "default").shortfalls[0]
    assert (lacking.resource, lacking.lacking) == ("cpu", "500m")
    grown = [
        node("n1", cpu="4500m", memory="8Gi", labels={"disk": "ssd"}) if each is FIVE[1] else each for each in FIVE
    ]
    assert estimate_sets(cluster(*grown), SET, "default").count == 2
