"""What must hold for any numbers and names, not only for those of the cases."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from interpreters.core.kinds import GroupVersionKind
from interpreters.core.quantity import Quantity
from tests.interpreters.scripts.bundled import ask, call

RAY = GroupVersionKind("ray.io", "v1", "RayCluster")
SERVICE = RAY._replace(kind="RayService")
FLINK = GroupVersionKind("flink.apache.org", "v1beta1", "FlinkDeployment")
UNITED = GroupVersionKind("apps.kruise.io", "v1alpha1", "UnitedDeployment")
PYTORCH = GroupVersionKind("kubeflow.org", "v1", "PyTorchJob")
MEBIBYTE = 1 << 20
FLINK_UNITS = {
    "": 1,
    "b": 1,
    "k": 1 << 10,
    "kb": 1 << 10,
    "m": MEBIBYTE,
    "MB": MEBIBYTE,
    "G": 1 << 30,
    "gibibytes": 1 << 30,
}

small = st.integers(0, 20)
group = st.fixed_dictionaries(
    {},
    optional={
        "groupName": st.text("ab-", max_size=40),
        "replicas": small,
        "minReplicas": small,
        "maxReplicas": small,
        "numOfHosts": st.integers(1, 4),
        "suspend": st.booleans(),
    },
)


def ray(groups: list[dict[str, Any]]) -> dict[str, Any]:
    return {"apiVersion": "ray.io/v1", "kind": "RayCluster", "spec": {"headGroupSpec": {}, "workerGroupSpecs": groups}}


def revised(kind: GroupVersionKind, obj: Any, replicas: int) -> Any:
    return call(kind, "ReviseReplica", [msgspec.json.encode(obj), str(replicas).encode()])[0]


@settings(max_examples=100)
@given(st.lists(group, max_size=5))
def test_names_are_unique_and_short_whatever_the_groups_are_called(groups: list[dict[str, Any]]) -> None:
    names = [component["name"] for component in ask(RAY, "GetComponents", ray(groups))]
    assert len(set(names)) == len(groups) + 1
    assert all(1 <= len(name) <= 32 for name in names)


@settings(max_examples=100)
@given(st.lists(group, min_size=1, max_size=5), st.integers(1, 60))
def test_a_ray_service_is_scaled_to_what_is_asked_as_far_as_whole_groups_allow(
    groups: list[dict[str, Any]], replicas: int
) -> None:
    cluster = ray(groups)
    service = {**cluster, "kind": SERVICE.kind, "spec": {"rayClusterConfig": cluster["spec"]}}
    total = ask(SERVICE, "GetReplicas", revised(SERVICE, service, replicas))
    running = [one for one in groups if not one.get("suspend")]
    spare = sum(one.get("numOfHosts", 1) - 1 for one in running)
    assert total <= max(replicas, 1)
    assert not running or total >= replicas - spare - max(one.get("numOfHosts", 1) for one in running)
    if running and all(one.get("numOfHosts", 1) == 1 for one in running):
        assert total == replicas


@settings(max_examples=100)
@given(st.lists(group, max_size=5), st.integers(0, 2147483647))
def test_a_ray_cluster_stays_whole_whatever_is_asked(groups: list[dict[str, Any]], replicas: int) -> None:
    assert revised(RAY, ray(groups), replicas) == ray(groups)


@settings(max_examples=100)
@given(
    st.integers(0, 100),
    st.lists(
        st.fixed_dictionaries(
            {}, optional={"minReplicas": small, "maxReplicas": st.integers(20, 40) | st.sampled_from(["20%", "100%"])}
        ),
        min_size=1,
        max_size=5,
    ),
)
def test_subsets_never_get_more_than_there_are(replicas: int, subsets: list[dict[str, Any]]) -> None:
    named = [{"name": f"s{i}", **subset} for i, subset in enumerate(subsets)]
    obj = {
        "apiVersion": UNITED.api_version,
        "kind": "UnitedDeployment",
        "spec": {"replicas": replicas, "topology": {"subsets": named}},
    }
    shares = [component["replicas"] for component in ask(UNITED, "GetComponents", obj)]
    assert sum(shares) <= replicas
    if not any("maxReplicas" in subset for subset in named):
        assert sum(shares) == replicas


@settings(max_examples=100)
@given(st.integers(0, 1 << 44), st.sampled_from(sorted(FLINK_UNITS)), st.sampled_from(["", " ", "  "]))
def test_flink_memory_is_whole_mebibytes_of_its_own_units(amount: int, unit: str, blank: str) -> None:
    number = amount // FLINK_UNITS[unit]
    resource = {"memory": f"{number}{blank}{unit}", "cpu": 1}
    obj = {"apiVersion": FLINK.api_version, "kind": "FlinkDeployment", "spec": {"jobManager": {"resource": resource}}}
    requested = ask(FLINK, "GetComponents", obj)[0]["replicaRequirements"]["resourceRequest"]["memory"]
    assert Quantity.parse(requested).value == number * FLINK_UNITS[unit] // MEBIBYTE * MEBIBYTE


@settings(max_examples=100)
@given(st.integers(1, 50), st.integers(1, 50), st.integers(1, 100))
def test_a_training_job_stays_whole_whatever_is_asked(master: int, worker: int, replicas: int) -> None:
    specs = {"Master": {"replicas": master}, "Worker": {"replicas": worker}}
    obj = {"apiVersion": PYTORCH.api_version, "kind": "PyTorchJob", "spec": {"pytorchReplicaSpecs": specs}}
    assert revised(PYTORCH, obj, replicas) == obj
