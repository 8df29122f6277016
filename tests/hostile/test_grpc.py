"""Hostile questions over gRPC: each is refused with its reason, and a small question does not wait for a large one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import pytest

from estimator.fit.bounds import MOST_COMPONENTS
from estimator.fit.threads import SMALL as SMALL_QUESTION
from estimator.service.pb import estimator_pb2 as pb
from estimator.service.pb import kubernetes_pb2 as k8s
from estimator.service.settings import Settings
from tests.estimator.service.messages import NEW, claim, component, replicas_request, sets_request
from tests.estimator.service.serving import client, mirror, serving
from tests.estimator.service.test_service import SMALL

INVALID, UNKNOWN, TOO_LARGE = (
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.UNKNOWN,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
)


def components(count: int, cluster: str = "member1") -> pb.MaxAvailableComponentSetsRequest:
    return sets_request(cluster, *[component(NEW, f"c{i}", 1, {"cpu": "1"}) for i in range(count)])


def terms(count: int) -> pb.MaxAvailableComponentSetsRequest:
    asked = [k8s.NodeSelectorRequirement(key="a", operator="Gt", values=["1"])]
    selector = k8s.NodeSelector(nodeSelectorTerms=[k8s.NodeSelectorTerm(matchExpressions=asked)] * count)
    return sets_request("member1", component(NEW, "c", 1, {"cpu": "1"}, claim(NEW, selector)))


ROWS: list[tuple[str, Callable[[], Any], grpc.StatusCode, str]] = [
    ("20 000 components", lambda: components(20_000), INVALID, f"at most {MOST_COMPONENTS} components"),
    ("a message of 5 MB", lambda: components(1, "x" * 5_000_000), TOO_LARGE, ""),
    ("a cluster name of 3 MB", lambda: components(1, "x" * 3_000_000), UNKNOWN, "does not match"),
    ("10 000 terms", lambda: terms(10_000), INVALID, "terms"),
    ("1000 resources", lambda: replicas_request("member1", {f"r{i}": "1" for i in range(1000)}), INVALID, "resources"),
    ("a quantity of a megabyte", lambda: replicas_request("member1", {"cpu": "1" * 1_000_000}), INVALID, "longer than"),
    (
        "20 000 assumed workloads",
        lambda: sets_request("member1", assumed=[pb.AssumedWorkload(namespace="a")] * 20_000),
        INVALID,
        "assumedWorkloads",
    ),
]


@pytest.mark.parametrize(("name", "question", "code", "says"), ROWS, ids=[row[0] for row in ROWS])
async def test_a_hostile_question_is_refused_and_a_small_one_answered(
    tmp_path: Path, name: str, question: Callable[[], Any], code: grpc.StatusCode, says: str
) -> None:
    asked = question()
    async with serving(mirror(tmp_path, "member1", SMALL)) as server, client(server) as stub:
        is_sets = isinstance(asked, pb.MaxAvailableComponentSetsRequest)
        method = stub.MaxAvailableComponentSets if is_sets else stub.MaxAvailableReplicas
        hostile = asyncio.ensure_future(method(asked))
        assert (await stub.MaxAvailableReplicas(replicas_request("member1", {"cpu": "1"}))).maxReplicas == 7
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await hostile
        assert refused.value.code() is code
        details = refused.value.details() or ""
        assert says in details
        assert len(details) < 2000


async def test_a_small_question_does_not_wait_for_large_ones(tmp_path: Path) -> None:
    """The large ones are held up until the small one has its answer."""
    answered = threading.Event()

    class Held:
        name = "Held"

        def estimate_components(self, *_: Any) -> Any:
            assert answered.wait(60)
            raise ValueError("no matter")

    async with serving(mirror(tmp_path, "member1", SMALL), parallelism=1) as server, client(server) as stub:
        plugins = server._handlers.plugins
        server._handlers.plugins = [Held()]  # type: ignore[list-item]
        large = sets_request("member1", component(NEW, "c" * (SMALL_QUESTION + 1), 1, {"cpu": "1"}))
        waiting = [asyncio.ensure_future(stub.MaxAvailableComponentSets(large)) for _ in range(4)]
        await asyncio.sleep(0)
        server._handlers.plugins = plugins
        assert (await stub.MaxAvailableReplicas(replicas_request("member1", {"cpu": "1"}))).maxReplicas == 7
        answered.set()
        await asyncio.gather(*waiting)


def test_what_has_no_effect_is_said() -> None:
    settings = Settings(clusters=("a=b",), kubeconfig=Path("k"), skip_client_verify=True, feature_gates="Other=true")
    told = " ".join(settings.without_effect())
    assert all(flag in told for flag in ("--kubeconfig", "--insecure-skip-grpc-client-verify", "Other"))
