"""Whether a cluster can take a workload: going, unavailable, not ready, tainted, without the API or the topology."""

from __future__ import annotations

from typing import Any

import pytest

from estimator.placement.filters import obstacle
from estimator.placement.policy import Cluster, read_placement
from tests.estimator.placement.fleet import DEPLOYMENT, cluster

ANY_TAINT = {"clusterTolerations": [{"operator": "Exists"}]}
BY_REGION = {"spreadConstraints": [{"spreadByField": "region"}, {"spreadByField": "cluster"}]}
BY_ZONE = {"spreadConstraints": [{"spreadByField": "zone"}]}
NOT_READY = {"clusterTolerations": [{"key": "cluster.karmada.io/not-ready", "operator": "Exists"}]}
EVICTED_LATE = {"clusterTolerations": [
    {"key": "cluster.karmada.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}]
}  # fmt: skip
GOLD = {"clusterTolerations": [{"key": "tier", "operator": "Equal", "value": "gold", "effect": "NoSchedule"}]}

CASES = [  # cluster, placement, what filters it
    (cluster("a"), {}, None),
    (cluster("a", deleting=True), ANY_TAINT, "deleting"),
    (cluster("a", ready="False"), {}, "notReady"),
    (cluster("a", ready="Unknown"), {}, "notReady"),
    (cluster("a", ready="False"), NOT_READY, None),
    (cluster("a", ready="False"), EVICTED_LATE, "notReady"),
    (cluster("a", taints=["tier=gold:NoSchedule"]), {}, "taint"),
    (cluster("a", taints=["tier=gold:NoExecute"]), {}, "taint"),
    (cluster("a", taints=["tier=gold:PreferNoSchedule"]), {}, None),
    (cluster("a", taints=["tier=gold:NoSchedule"]), GOLD, None),
    (cluster("a", taints=["tier=gold:NoExecute"]), GOLD, "taint"),
    (cluster("a", taints=["tier=iron:NoSchedule"]), GOLD, "taint"),
    (cluster("a", taints=["x:NoSchedule", "y:NoExecute"]), ANY_TAINT, None),
    (cluster("a", apis=["apps/v1 Deployment"]), {}, None),
    (cluster("a", apis=["apps/v1 StatefulSet", "v1 Pod"]), {}, "api"),
    (cluster("a", apis=["apps/v1beta1 Deployment"]), {}, "api"),
    (cluster("a", apis=[]), {}, "api"),
    (cluster("a"), BY_REGION, "topology"),
    (cluster("a", region="north"), BY_REGION, None),
    (cluster("a", region="north"), BY_ZONE, "topology"),
    (cluster("a", zones=["z"]), BY_ZONE, None),
]


@pytest.mark.parametrize(("member", "placement", "expected"), CASES)
def test_a_cluster_is_filtered_for_one_reason(member: Cluster, placement: dict[str, Any], expected: str | None) -> None:
    found = obstacle(member, read_placement(placement), DEPLOYMENT)
    assert (found and found[0]) == expected
    assert found is None or found[1]


HELD = [(cluster("a", taints=["x:NoExecute"], ready="False", apis=[]), None), (cluster("a", deleting=True), "deleting")]


@pytest.mark.parametrize(("member", "expected"), HELD)
def test_a_cluster_that_has_the_workload_keeps_it_unless_it_goes(member: Cluster, expected: str | None) -> None:
    found = obstacle(member, read_placement({}), DEPLOYMENT, is_target=True)
    assert (found and found[0]) == expected


def test_an_unavailable_cluster_takes_nothing_even_if_it_had_it() -> None:
    found = obstacle(cluster("a"), read_placement(ANY_TAINT), DEPLOYMENT, is_target=True, unavailable={"a"})
    assert found is not None
    assert found[0] == "unavailable"
