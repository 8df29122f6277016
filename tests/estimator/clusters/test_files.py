"""Mirrors from files: JSON, YAML, gzip, lists of every kind, folders, and what is wrong with some."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from estimator.clusters.files import FileCluster, find_folders, is_kubeconfig, read_files
from estimator.fit.state import ClusterState
from interpreters.core.errors import InputError
from tests.estimator.clusters.objects import node, pod, quota

OBJECTS = [node("a"), node("b"), pod("one", on="a"), pod("two"), quota("q", {"cpu": "1"}, {"cpu": "0"})]
CLUSTER = {"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "metadata": {"name": "member1"}}


def without_kind(kind: str) -> dict[str, Any]:
    items = [{key: item[key] for key in item if key != "kind"} for item in OBJECTS if item["kind"] == kind]
    return {"kind": f"{kind}List", "apiVersion": "v1", "items": items}


WRITTEN = {
    "kubectl-list.json": json.dumps({"kind": "List", "items": OBJECTS}).encode(),
    "list.json.gz": gzip.compress(json.dumps({"kind": "List", "items": OBJECTS}).encode()),
    "list.yaml": yaml.safe_dump({"kind": "List", "items": OBJECTS}).encode(),
    "documents.yaml": yaml.safe_dump_all(OBJECTS).encode(),
    "documents.yml.gz": gzip.compress(yaml.safe_dump_all(OBJECTS).encode()),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_every_way_to_write_it_gives_the_same_picture(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(WRITTEN[name])
    for path in (tmp_path / name, tmp_path):
        told = read_files([path])
        assert (told.nodes, told.pods, told.quotas) == (2, 2, 1)
        assert told.mirror.state.pod_count == 1, "a pod without a node takes no room"


def test_lists_whose_items_do_not_say_their_kind_are_read(tmp_path: Path) -> None:
    for kind in ("Node", "Pod", "ResourceQuota"):
        (tmp_path / f"{kind}.json").write_text(json.dumps(without_kind(kind)))
    told = read_files([tmp_path])
    assert (told.nodes, told.pods, told.quotas) == (2, 2, 1)


def test_other_kinds_are_passed_over_and_a_karmada_cluster_is_kept(tmp_path: Path) -> None:
    other = {"apiVersion": "cluster.x-k8s.io/v1", "kind": "Cluster", "metadata": {"name": "other"}}
    items = [CLUSTER, other, {"kind": "Service", "apiVersion": "v1"}]
    (tmp_path / "all.json").write_text(json.dumps({"kind": "List", "items": items}))
    (tmp_path / "notes.txt").write_text("not read")
    assert read_files([tmp_path]).summary == CLUSTER
    (tmp_path / "all.json").write_text(json.dumps(CLUSTER))
    assert read_files([tmp_path / "all.json"]).summary == CLUSTER


def test_what_is_read_equals_what_the_state_reads_from_the_same_objects(tmp_path: Path) -> None:
    sidecar = pod("sidecar", on="b")
    sidecar["spec"]["initContainers"] = [
        {"name": "proxy", "restartPolicy": "Always", "resources": {"requests": {"cpu": "250m", "memory": "1Gi"}}},
        {"name": "init", "resources": {"limits": {"memory": "3Gi"}}},
    ]
    sidecar["spec"]["overhead"] = {"cpu": "10m"}
    pod_level = pod("pod-level", on="a")
    pod_level["spec"]["resources"] = {"requests": {"cpu": "3", "memory": "2Gi"}}
    tainted = node("c", taints=[{"key": "gpu", "value": "yes", "effect": "NoSchedule"}], unschedulable=True)
    objects = [*OBJECTS, sidecar, pod_level, tainted, pod("gone", on="a", phase="Failed")]
    (tmp_path / "all.json").write_text(json.dumps({"kind": "List", "items": objects}))
    read, expected = read_files([tmp_path]).mirror.state, ClusterState(objects)
    assert read.nodes() == expected.nodes()
    assert read.quotas("default") == expected.quotas("default")
    for resource in ("cpu", "memory", "pods"):
        assert read.view().free(resource).tolist() == expected.view().free(resource).tolist()


def test_a_folder_of_folders_is_a_cluster_each(tmp_path: Path) -> None:
    for name in ("member2", "member1", ".hidden"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "all.json").write_text("{}")
    assert [folder.name for folder in find_folders(tmp_path)] == ["member1", "member2"]
    assert find_folders(tmp_path / "member1") == []


MISTAKES: list[tuple[str, bytes, str]] = [
    ("all.json", b'{"kind": "Node", "metadata": {}}', "not a Node: metadata.name: expected a value, got nothing"),
    ("all.json", b'{"kind": "List", "items": 5}', "not a Kubernetes object or list: "),
    ("all.json", b'{"kind": "List", "items": [', ""),
    ("all.json", json.dumps(node("a", cpu="four")).encode(), '"four" is not a quantity'),
    ("all.json", b'{"kind": "List", "items": [5]}', "not a Kubernetes object or list: "),
    ("all.yaml", b"{kind: [1]}", "not a Kubernetes object or list: "),
    ("all.json", json.dumps(pod("one", on="a", cpu="four")).encode(), "Pod default/one: "),
    ("all.json", b'{"kind": "Pod", "metadata": {"name": "p"}, "spec": {"nodeName": "a", "overhead": [1]}}', "Pod /p: "),
    ("all.json", b'{"kind": "ResourceQuota", "metadata": "x"}', "ResourceQuota: metadata: expected an object"),
    (
        "all.json",
        b'{"kind": "ResourceQuota", "metadata": {"name": "q"}, "status": 1}',
        "ResourceQuota default/q: status: expected an object",
    ),
    ("all.json", json.dumps(CLUSTER | {"status": "none"}).encode(), "Cluster: status: expected an object"),
    (
        "all.json",
        json.dumps(CLUSTER | {"status": {"resourceSummary": {"allocated": {"cpu": "x"}}}}).encode(),
        'Cluster: status.resourceSummary.allocated.cpu: "x" is not a quantity',
    ),
    ("all.json.gz", b"\x1f\x8b\x08", "not a complete gzip file"),
    ("all.json", b"", "neither a Node nor a Karmada Cluster object in it"),
    ("all.json", b'{"kind": "Service"}', "neither a Node nor a Karmada Cluster object in it"),
    ("all.json", json.dumps(pod("one", on="a")).encode(), "neither a Node nor a Karmada Cluster object in it"),
]


@pytest.mark.parametrize(("name", "content", "problem"), MISTAKES)
def test_what_cannot_be_read_is_named_with_its_file(tmp_path: Path, name: str, content: bytes, problem: str) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(InputError) as refused:
        read_files([file])
    assert str(refused.value).startswith(str(file))
    assert problem in str(refused.value)


def test_a_list_without_nodes_is_an_empty_cluster(tmp_path: Path) -> None:
    for name, content in (("json", '{"kind": "List", "items": []}'), ("yaml", "kind: List\nitems: []\n")):
        (tmp_path / f"all.{name}").write_text(content)
        told = read_files([tmp_path / f"all.{name}"])
        assert told.state is not None
        assert told.state.node_count == 0
    (tmp_path / "all.json").write_text(json.dumps({"kind": "List", "items": [pod("waiting")]}))
    assert read_files([tmp_path / "all.json"]).state is not None, "pods may wait for a first node"


def test_a_karmada_cluster_alone_tells_nothing_of_nodes(tmp_path: Path) -> None:
    (tmp_path / "all.json").write_text(json.dumps(CLUSTER))
    assert read_files([tmp_path]).state is None


async def test_a_cluster_without_nodes_in_its_files_is_not_answered_for(tmp_path: Path) -> None:
    (tmp_path / "all.json").write_text(json.dumps(CLUSTER))
    cluster = FileCluster("lab", [tmp_path])
    await cluster.look()
    assert (cluster.state(), cluster.problem) == (None, "its files hold a Karmada Cluster object, but no nodes")


TOLD_APART = [
    ("apiVersion: v1\nkind: Config\n", True),
    ("clusters: []\ncurrent-context: a\n", True),
    ("{kind: Config, current-context: a}", True),
    ('{"apiVersion": "v1", "kind": "Config", "users": []}', True),
    ('{"apiVersion":"v1","kind":"Config"}', True),
    ("kind: ConfigMap\n", False),
    ('{"kind": "List", "items": [{"kind": "ConfigMap"}]}', False),
    ("kind: List\nitems:\n- kind: Node\n", False),
]


@pytest.mark.parametrize(("text", "expected"), TOLD_APART)
def test_a_kubeconfig_is_told_from_a_picture(tmp_path: Path, text: str, expected: bool) -> None:
    (tmp_path / "file").write_text(text)
    assert is_kubeconfig(tmp_path / "file") is expected


def test_a_folder_without_files_and_a_missing_file_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no \.json"):
        read_files([tmp_path])
    with pytest.raises(InputError, match="No such file"):
        read_files([tmp_path / "missing.json"])


async def test_changed_files_are_read_again_and_a_broken_one_leaves_the_last_picture(tmp_path: Path) -> None:
    file = tmp_path / "all.json"
    cluster = FileCluster("member1", [tmp_path])
    await cluster.look()
    assert cluster.state() is None and "no .json" in cluster.problem
    for written, (content, nodes) in enumerate([(OBJECTS, 2), (OBJECTS[:1], 1)]):
        file.write_text(json.dumps({"kind": "List", "items": content}))
        os.utime(file, (written, written))
        await cluster.look()
        state = cluster.state()
        assert state is not None and state.node_count == nodes and cluster.problem == ""
    file.write_text("{")
    await cluster.look()
    assert cluster.problem and cluster.synced
