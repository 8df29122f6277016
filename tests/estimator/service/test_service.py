"""The gRPC services over a real socket: answers, errors, no opinion, health, reflection, an orderly end."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import time
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from estimator.service.pb import estimator_pb2 as pb
from estimator.service.pb import multicomponent_pb2 as multi
from estimator.service.pb import multicomponent_pb2_grpc, service_pb2_grpc
from estimator.service.server import SERVICES
from interpreters.core.errors import InputError
from tests.estimator.clusters.apiserver_double import ApiServerDouble
from tests.estimator.clusters.objects import node, pod, quota, waiting_pod, workload
from tests.estimator.service.messages import GENERATIONS, NEW, amounts, component, replicas_request, sets_request
from tests.estimator.service.serving import client, eventually, mirror, serving

SMALL = [node("a", cpu="4"), node("b", cpu="4"), pod("one", on="a", cpu="1")]
RECORDED = json.loads((Path(__file__).parents[2] / "recordings" / "estimator-requests.json").read_text())


def kubeconfig(folder: Path, server: ApiServerDouble) -> str:
    file = folder / "kubeconfig"
    file.write_text(
        f"""
current-context: it
contexts: [{{name: it, context: {{cluster: it, user: it}}}}]
clusters: [{{name: it, cluster: {{server: "{server.address}"}}}}]
users: [{{name: it, user: {{}}}}]
"""
    )
    return f"live={file}"


@pytest.mark.parametrize("generation", GENERATIONS)
async def test_replicas_and_sets_in_every_generation_of_the_wire(tmp_path: Path, generation: str) -> None:
    async with serving(mirror(tmp_path, "member1", SMALL)) as server, client(server) as stub:
        replicas = await stub.MaxAvailableReplicas(replicas_request("member1", {"cpu": "1"}, generation))
        assert replicas.maxReplicas == 7
        components = [
            component(generation, "master", 1, {"cpu": "1"}),
            component(generation, "worker", 2, {"cpu": "500m"}),
        ]
        sets = await stub.MaxAvailableComponentSets(sets_request("member1", *components))
        assert sets.maxSets == 3


async def test_assumed_workloads_are_placed_first(tmp_path: Path) -> None:
    worker = component(NEW, "worker", 1, {"cpu": "1"})
    assumed = pb.AssumedWorkload(namespace="other", components=[component(NEW, "w", 3, {"cpu": "2"})])
    async with serving(mirror(tmp_path, "member1", SMALL)) as server, client(server) as stub:
        assert (await stub.MaxAvailableComponentSets(sets_request("member1", worker))).maxSets == 7
        asked = sets_request("member1", worker, assumed=[assumed])
        assert (await stub.MaxAvailableComponentSets(asked)).maxSets == 1
        request = replicas_request("member1", {"cpu": "1"})
        request.assumedWorkloads.append(assumed)
        assert (await stub.MaxAvailableReplicas(request)).maxReplicas == 1


@pytest.mark.parametrize(
    ("gates", "replicas"), [("", 2), ("ResourceQuotaEstimate=true", 2), ("ResourceQuotaEstimate=false", 7)]
)
async def test_quotas_count_unless_their_gate_is_closed(tmp_path: Path, gates: str, replicas: int) -> None:
    objects = [*SMALL, quota("compute", {"requests.cpu": "6"}, {"requests.cpu": "4"})]
    async with serving(mirror(tmp_path, "member1", objects), feature_gates=gates) as server, client(server) as stub:
        answer = await stub.MaxAvailableReplicas(replicas_request("member1", {"cpu": "1"}))
        assert answer.maxReplicas == replicas


async def test_many_clusters_are_served_by_one_process(tmp_path: Path) -> None:
    clusters = [mirror(tmp_path, f"member{i}", [node("a", cpu=str(i))]) for i in range(1, 6)]
    async with serving(*clusters) as server, client(server) as stub:
        calls = [stub.MaxAvailableReplicas(replicas_request(f"member{i}", {"cpu": "1"})) for i in range(1, 6)]
        assert [answer.maxReplicas for answer in await asyncio.gather(*calls)] == [1, 2, 3, 4, 5]


async def test_the_proposals_own_service_answers_too(tmp_path: Path) -> None:
    objects = [*SMALL, quota("compute", {"cpu": "3"}, {"cpu": "0"}, namespace="team-a")]
    request = multi.MaxAvailableComponentSetsRequest(
        cluster="member1",
        components=[
            multi.Component(
                name="worker",
                replicas=2,
                replicaRequirements=pb.ReplicaRequirements(namespace="team-a", **amounts(NEW, {"cpu": "1"})),
            )
        ],
    )
    async with (
        serving(mirror(tmp_path, "member1", objects)) as server,
        grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as channel,
    ):
        stub = multicomponent_pb2_grpc.MultiComponentEstimatorStub(channel)
        assert (await stub.MaxAvailableComponentSets(request)).maxSets == 1


BIG = node(
    "big",
    cpu="64",
    memory="256Gi",
    labels={"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", "disktype": "ssd"},
)
WAITING = waiting_pod("p", workload("ReplicaSet", "web-5d4f"), "2026-01-01T00:00:00Z", template_hash="5d4f")
FIT_ON_BIG = [16, 7, 16, 64, 55, 55, 55, 55, 55, 16, 15, 14, 110, 110, 110, 110, 110, 110, 110, 110, 1, 1, 1]


@pytest.mark.parametrize(
    ("recorded", "expected"),
    [pytest.param(*pair, id=f"after {pair[0]['t']} s") for pair in zip(RECORDED, FIT_ON_BIG, strict=True)],
)
async def test_recorded_requests_of_a_real_scheduler_are_answered(
    tmp_path: Path, recorded: dict[str, Any], expected: int
) -> None:
    body = base64.b64decode(recorded["requestBase64"])
    async with (
        serving(mirror(tmp_path, recorded["requestDecoded"]["cluster"], [BIG, WAITING])) as server,
        grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as channel,
    ):
        metadata = [tuple(pair) for pair in recorded["metadata"] if pair[0] != "user-agent"]
        method = channel.unary_unary(recorded["method"])
        answer = await method(body, metadata=metadata, timeout=recorded["deadlineSeconds"])
        # Every response of the service is one number in field 1.
        assert pb.MaxAvailableReplicasResponse.FromString(answer).maxReplicas == expected


async def test_a_wrong_cluster_name_is_refused_in_upstreams_words(tmp_path: Path) -> None:
    clusters = [mirror(tmp_path, name, SMALL) for name in ("member2", "member1")]
    async with serving(*clusters) as server, client(server) as stub:
        for call in (
            stub.MaxAvailableReplicas(replicas_request("other", {})),
            stub.MaxAvailableComponentSets(sets_request("other")),
            stub.GetUnschedulableReplicas(pb.UnschedulableReplicasRequest(cluster="other")),
        ):
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await call
            assert refused.value.code() is grpc.StatusCode.UNKNOWN
            assert refused.value.details() == "cluster name does not match, got: other, desire: member1, member2"


async def test_a_malformed_request_is_refused_with_the_field(tmp_path: Path) -> None:
    async with serving(mirror(tmp_path, "member1", SMALL)) as server, client(server) as stub:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await stub.MaxAvailableReplicas(replicas_request("member1", {"cpu": "lots"}))
        assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert "replicaRequirements.resourceRequest[cpu]" in str(refused.value.details())


async def test_staleness_travels_in_the_trailing_metadata(tmp_path: Path) -> None:
    made = mirror(tmp_path, "member1", SMALL)
    hour_ago = time.time() - 3600
    os.utime(tmp_path / "member1" / "all.json", (hour_ago, hour_ago))
    async with serving(made) as server, client(server) as stub:
        call = stub.MaxAvailableReplicas(replicas_request("member1", {"cpu": "1"}))
        trailing = dict(tuple(await call.trailing_metadata()))
        assert 3600 <= float(trailing["interp-staleness-seconds"]) < 3700


async def test_before_the_first_sync_and_for_a_lost_cluster_there_is_no_opinion(tmp_path: Path) -> None:
    double = ApiServerDouble(list_delay=0.3)
    for item in SMALL:
        double.put(dict(item))
    await double.start()
    other = mirror(tmp_path, "other", SMALL)
    asked = replicas_request("live", {"cpu": "1"})
    async with (
        serving(kubeconfig(tmp_path, double), other, ready=False, lost_after=0.2) as server,
        client(server) as stub,
    ):
        call = stub.MaxAvailableReplicas(asked)
        assert (await call).maxReplicas == -1
        assert dict(tuple(await call.trailing_metadata()))["interp-staleness-seconds"] == "unknown"
        assert server.ready().problem.startswith("not read yet: live")
        await eventually(lambda: server.clusters["live"].synced)
        assert (await stub.MaxAvailableReplicas(asked)).maxReplicas == 7
        await double.stop()
        await eventually(lambda: server.clusters["live"].state() is None)
        call = stub.MaxAvailableReplicas(asked)
        assert (await call).maxReplicas == -1
        trailing = dict(tuple(await call.trailing_metadata()))
        assert float(trailing["interp-staleness-seconds"]) > 0.2
        assert trailing["interp-no-opinion"]
        unschedulable = pb.UnschedulableReplicasRequest(
            cluster="live", resource=pb.ObjectReference(apiVersion="batch/v1", kind="Job", namespace="d", name="j")
        )
        assert (await stub.GetUnschedulableReplicas(unschedulable)).unschedulableReplicas == -1
        assert (await stub.MaxAvailableReplicas(replicas_request("other", {"cpu": "1"}))).maxReplicas == 7
        assert server.ready().problem == "", "one lost cluster does not take the others out of service"


async def test_unschedulable_replicas_of_a_live_cluster(tmp_path: Path) -> None:
    double = ApiServerDouble()
    job = workload("Job", "train")
    for item in (
        *SMALL,
        job,
        waiting_pod("w1", job, "2026-01-01T00:00:00Z"),
        waiting_pod("w2", job, "2999-01-01T00:00:00Z"),
    ):
        double.put(dict(item))
    await double.start()

    def asked(name: str, kind: str = "Job", api_version: str = "batch/v1") -> pb.UnschedulableReplicasRequest:
        reference = pb.ObjectReference(apiVersion=api_version, kind=kind, namespace="default", name=name)
        return pb.UnschedulableReplicasRequest(cluster="live", resource=reference, unschedulableThreshold=60 * 10**9)

    try:
        async with serving(kubeconfig(tmp_path, double)) as server, client(server) as stub:
            assert (await stub.GetUnschedulableReplicas(asked("train"))).unschedulableReplicas == 1
            with pytest.raises(grpc.aio.AioRpcError) as missing:
                await stub.GetUnschedulableReplicas(asked("nobody"))
            assert missing.value.code() is grpc.StatusCode.NOT_FOUND
            with pytest.raises(grpc.aio.AioRpcError) as unsupported:
                await stub.GetUnschedulableReplicas(asked("agent", "DaemonSet", "apps/v1"))
            assert unsupported.value.details() == "kind(DaemonSet) of workload(default/agent) is not supported"
    finally:
        await double.stop()


async def test_unschedulable_replicas_of_a_picture_are_told_by_names(tmp_path: Path) -> None:
    replica_set = workload("ReplicaSet", "web-5d4f")
    pods = [waiting_pod(f"p{i}", replica_set, "2026-01-01T00:00:00Z", template_hash="5d4f") for i in range(3)]
    request = pb.UnschedulableReplicasRequest(
        cluster="member1",
        resource=pb.ObjectReference(apiVersion="apps/v1", kind="Deployment", namespace="default", name="web"),
    )
    async with serving(mirror(tmp_path, "member1", [*SMALL, *pods])) as server, client(server) as stub:
        assert (await stub.GetUnschedulableReplicas(request)).unschedulableReplicas == 3
        request.resource.name = "we"
        assert (await stub.GetUnschedulableReplicas(request)).unschedulableReplicas == 0


class Slow:
    """A plugin that takes its time, to see what waits for it."""

    name = "Slow"

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def estimate(self, *_: Any) -> Any:
        time.sleep(self.seconds)

    estimate_components = estimate


async def test_a_deadline_ends_the_call_and_the_server_answers_on(tmp_path: Path) -> None:
    async with serving(mirror(tmp_path, "member1", SMALL), parallelism=2) as server, client(server) as stub:
        plugins = server._handlers.plugins
        server._handlers.plugins = [Slow(0.3)]  # type: ignore[list-item]
        with pytest.raises(grpc.aio.AioRpcError) as late:
            await stub.MaxAvailableReplicas(replicas_request("member1", {"cpu": "1"}), timeout=0.05)
        assert late.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        server._handlers.plugins = plugins
        assert (await stub.MaxAvailableReplicas(replicas_request("member1", {"cpu": "1"}))).maxReplicas == 7


async def test_a_plugin_that_fails_means_no_opinion_not_an_error(tmp_path: Path) -> None:
    async with serving(mirror(tmp_path, "member1", SMALL)) as server, client(server) as stub:
        server._handlers.plugins = [Slow("not a number")]  # type: ignore[list-item,arg-type]
        call = stub.MaxAvailableReplicas(replicas_request("member1", {"cpu": "1"}))
        assert (await call).maxReplicas == -1
        assert dict(tuple(await call.trailing_metadata()))["interp-no-opinion"] == "a plugin failed"


async def test_what_was_begun_is_finished_before_the_server_goes(tmp_path: Path) -> None:
    async with serving(mirror(tmp_path, "member1", SMALL)) as server:
        server._handlers.plugins = [Slow(0.2)]  # type: ignore[list-item]
        channel = grpc.aio.insecure_channel(f"127.0.0.1:{server.port}")
        stub = service_pb2_grpc.EstimatorStub(channel)
        call = asyncio.ensure_future(stub.MaxAvailableReplicas(replicas_request("member1", {"cpu": "1"})))
        await eventually(lambda: server._handlers.precedence._waiting > 0)
    assert (await call).maxReplicas == -1
    await channel.close()


async def test_a_port_that_is_taken_is_an_error_not_half_of_the_requests(tmp_path: Path) -> None:
    made = mirror(tmp_path, "member1", SMALL)
    async with serving(made) as server:
        with pytest.raises(
            InputError, match=f"--server-port: cannot listen on 127.0.0.1:{server.port}; is the port taken"
        ):
            async with serving(made, server_port=server.port):
                pass


async def test_nobody_lists_the_services_unless_told_otherwise(tmp_path: Path) -> None:
    async with (
        serving(mirror(tmp_path, "member1", SMALL)) as server,
        grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as channel,
    ):
        asked = iter([reflection_pb2.ServerReflectionRequest(list_services="")])
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            [each async for each in reflection_pb2_grpc.ServerReflectionStub(channel).ServerReflectionInfo(asked)]
        assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED


async def test_health_and_reflection_are_offered(tmp_path: Path) -> None:
    async with (
        serving(mirror(tmp_path, "member1", SMALL), reflection=True) as server,
        grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as channel,
    ):
        health = health_pb2_grpc.HealthStub(channel)
        for service in ("", *SERVICES):
            watched = health.Watch(health_pb2.HealthCheckRequest(service=service))
            async with asyncio.timeout(20):
                while (await watched.read()).status != health_pb2.HealthCheckResponse.SERVING:
                    pass
            watched.cancel()
        reflection = reflection_pb2_grpc.ServerReflectionStub(channel)
        asked = iter([reflection_pb2.ServerReflectionRequest(list_services="")])
        listed = [each async for each in reflection.ServerReflectionInfo(asked)]
        names = {service.name for service in listed[0].list_services_response.service}
        assert {*SERVICES, "grpc.health.v1.Health"} <= names
