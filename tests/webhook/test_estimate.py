"""POST /estimate over real HTTPS: a workload, components or requirements in; sets, replicas and reasons out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
import yaml
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from estimator.clusters.files import FileCluster
from estimator.fit.model import Code, Estimate
from estimator.fit.question import Question, replicas_question, sets_question
from interpreters.core.requirements import Component, ReplicaRequirements
from tests.webhook.server import SCRIPTS, Client, Server, request
from webhook.endpoints.clusters import Clusters


def node(name: str, cpu: str) -> dict[str, Any]:
    allocatable = {"cpu": cpu, "memory": "16Gi", "pods": "110"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"allocatable": allocatable}}


def karmada_cluster(cpu: str, grades: dict[str, int]) -> dict[str, Any]:
    """A Cluster object with `cpu` free in all, on so many nodes with at least so many CPUs each."""
    models = [{"grade": i, "ranges": [{"name": "cpu", "min": least, "max": "999"}]} for i, least in enumerate(grades)]
    summary = {
        "allocatable": {"cpu": cpu, "pods": 100},
        "allocatableModelings": [{"grade": i, "count": count} for i, count in enumerate(grades.values())],
    }
    return {
        "apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "metadata": {"name": "m"},
        "spec": {"resourceModels": models}, "status": {"resourceSummary": summary},
    }  # fmt: skip


@pytest.fixture(scope="module")
def estimating(certs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    folder = tmp_path_factory.mktemp("clusters")
    for cluster, cpus in {"big": ["8", "8"], "small": ["1"]}.items():
        (folder / cluster).mkdir()
        nodes = [node(f"{cluster}-{index}", cpu) for index, cpu in enumerate(cpus)]
        (folder / cluster / "nodes.yaml").write_text(yaml.safe_dump_all(nodes))
    flags = [f"--clusters={name}={folder / name}" for name in ("big", "small")]
    with Server(certs, "--scripts", str(SCRIPTS), "--bundled-language", "none", "--workers", "1", *flags) as server:
        client = Client(server.port, certs / "ca.crt")
        yield client
        client.close()


def requiring(cpu: Any) -> dict[str, Any]:
    return {"resourceRequest": {"cpu": cpu}}


SET = [
    {"name": "a", "replicas": 1, "replicaRequirements": requiring("1")},
    {"name": "b", "replicas": 2, "replicaRequirements": requiring("500m")},
]
WORKLOAD = request("starlark", "InterpretComponent", components=SET)["object"]
QUESTIONS = [  # question,                                     numbers by cluster
    ({"components": SET}, {"big": (8, 24), "small": (0, 0)}),
    ({"workload": WORKLOAD}, {"big": (8, 24), "small": (0, 0)}),
    ({"components": SET, "cluster": "small"}, {"small": (0, 0)}),
    ({"replicaRequirements": requiring("2"), "clusters": ["big"]}, {"big": (None, 8)}),
    ({"replicaRequirements": requiring("2")}, {"big": (None, 8), "small": (None, 0)}),
    ({"components": [{"name": "none", "replicas": 0}]}, {"big": (2147483647,) * 2, "small": (2147483647,) * 2}),
    ({"components": SET, "clusters": ["big"], "assumedWorkloads": [{"components": SET}] * 3}, {"big": (5, 15)}),
]


def asking(cpu: Any, half: Any) -> list[dict[str, Any]]:
    return [{"name": "a", "replicas": 1, "replicaRequirements": requiring(cpu)},
            {"name": "b", "replicas": 2, "replicaRequirements": requiring(half)}]  # fmt: skip


QUESTIONS += [  # quantities as Kubernetes reads them: text or numbers, null as nothing
    ({"components": asking(1, 0.5), "cluster": "big"}, {"big": (8, 24)}),
    ({"components": asking(1.0, 5e-1), "cluster": "big"}, {"big": (8, 24)}),
    ({"components": asking(1, None), "cluster": "big"}, {"big": (16, 48)}),
    ({"replicaRequirements": requiring(2), "cluster": "big"}, {"big": (None, 8)}),
    (
        {"components": SET, "clusters": ["big"], "assumedWorkloads": [{"components": asking(1, 0.5)}] * 3},
        {"big": (5, 15)},
    ),
    ({"workload": WORKLOAD, "cluster": "big", "assumedWorkloads": [{"components": asking(8, 0)}]}, {"big": (4, 12)}),
]


@pytest.mark.parametrize(("question", "numbers"), QUESTIONS)
def test_every_kind_of_question_is_answered_for_every_cluster(
    estimating: Client, question: dict[str, Any], numbers: dict[str, Any]
) -> None:
    status, answer = estimating.post(question, "/estimate?timeout=5s")
    assert status == 200, answer
    got = {one["cluster"]: (one.get("maxSets"), one["maxReplicas"]) for one in answer["estimates"]}
    assert got == numbers
    for one in answer["estimates"]:
        assert one["stalenessSeconds"] >= 0
        assert one["reasons"] or one["maxReplicas"] == 2147483647


MISTAKES = [  # question, status, part of the message
    ({}, 400, "exactly one of"),
    ({"components": SET, "replicaRequirements": requiring("1")}, 400, "exactly one of"),
    ({"components": SET, "clusters": ["nowhere"]}, 400, "known are big, small"),
    ({"components": [{"name": "a", "replicas": -1}]}, 400, "components[0].replicas"),
    (
        {"components": [{"name": "a", "replicas": 1, "replicaRequirements": requiring("x")}]},
        400,
        'components[0].replicaRequirements.resourceRequest[cpu]: "x" is not a quantity',
    ),
    ({"replicaRequirements": requiring("x")}, 400, 'replicaRequirements.resourceRequest[cpu]: "x" is not a quantity'),
    (
        {"components": SET, "assumedWorkloads": [{"components": [{"name": "a", "replicas": -1}]}]},
        400,
        "assumedWorkloads[0].components[0].replicas",
    ),
    ({"replicaRequirements": requiring("one")}, 400, '"one" is not a quantity'),
    ({"replicaRequirements": requiring(True)}, 400, "expected text, got true or false"),
    ({"replicaRequirements": requiring([1])}, 400, "expected text, got a list"),
    (
        {"components": [{"name": "a", "replicas": "1", "replicaRequirements": requiring(1)}]},
        400,
        "components[0].replicas",
    ),
    ({"components": SET, "color": "red"}, 400, "color"),
    ({"workload": {"apiVersion": "v1", "kind": "Nothing"}}, 404, "no script knows the kind v1 Nothing"),
    ({"workload": {"kind": "Nothing"}}, 400, "apiVersion"),
    ({"workload": [1]}, 400, "workload: expected an object"),
    ({"workload": request("starlark", "InterpretComponent", behaviour="fail")["object"]}, 422, "cannot be played"),
]


@pytest.mark.parametrize(("question", "status", "message"), MISTAKES)
def test_a_question_that_cannot_be_answered_says_why(
    estimating: Client, question: dict[str, Any], status: int, message: str
) -> None:
    got, problem = estimating.post(question, "/estimate")
    assert got == status
    assert message in problem["message"]


def test_answers_keep_the_openapi_document(estimating: Client) -> None:
    _, document = estimating.get("/openapi.json")
    schema = document["paths"]["/estimate"]["post"]["responses"]["200"]["content"]["application/json"]["schema"]
    registry: Registry[Any] = Registry().with_resource(
        "urn:api", Resource.from_contents(document, default_specification=DRAFT202012)
    )
    absolute = yaml.safe_load(yaml.safe_dump(schema).replace("#/components", "urn:api#/components"))
    _, answer = estimating.post({"components": SET}, "/estimate")
    jsonschema.Draft202012Validator(absolute, registry=registry).validate(answer)


def test_without_clusters_the_answer_says_what_to_set(client: Client) -> None:
    status, problem = client.post({"components": SET}, "/estimate")
    assert (status, "clusters" in problem["message"]) == (404, True)


async def test_a_plugin_that_fails_means_no_opinion_in_sets_and_in_replicas(tmp_path: Path) -> None:
    (tmp_path / "nodes.yaml").write_text(yaml.safe_dump(node("a", "4")))
    cluster = FileCluster("lab", [tmp_path])
    await cluster.look()
    failed = Estimate("sets", 0, Code.ERROR, ["Ours: failed"], replicas=0)
    answer = await Clusters({"lab": cluster}).ask(cluster, Question("sets", lambda state: failed, lambda _: failed))
    assert (answer.estimate.count, answer.estimate.replicas) == (-1, None)


@pytest.mark.parametrize(
    ("objects", "sets", "replicas", "method"),
    [
        ([karmada_cluster("8", {"3": 1})], 1, 2, "general"),
        ([karmada_cluster("1", {})], 0, 0, "general"),
        ([karmada_cluster("8", {"3": 1}), node("a", "16")], 1, 2, "general"),
        ([karmada_cluster("64", {"32": 2}), node("a", "4")], 2, 3, "whole-sets"),
    ],
    ids=["models", "summary", "models are tighter than nodes", "nodes are tighter than models"],
)
async def test_a_karmada_cluster_object_in_the_files_counts_as_for_interp_estimate(
    objects: list[dict[str, Any]], sets: int, replicas: int, method: str, tmp_path: Path
) -> None:
    (tmp_path / "all.yaml").write_text(yaml.safe_dump_all(objects))
    cluster = FileCluster("lab", [tmp_path])
    await cluster.look()
    clusters = Clusters({"lab": cluster})
    components = msgspec.convert(SET, list[Component])
    answer = await clusters.ask(cluster, sets_question(components, "default"))
    assert (answer.estimate.count, answer.estimate.method) == (sets, method)
    asked = ReplicaRequirements(resource_request={"cpu": "1200m"})
    assert (await clusters.ask(cluster, replicas_question(asked))).estimate.count == replicas
    assert await clusters.fits(components, "default") == [("lab", sets, "; ".join(answer.estimate.reasons))]
    assert clusters.some_may_fit(components, "default") is (sets > 0)
