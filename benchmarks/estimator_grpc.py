"""Figures of the estimator's gRPC door at 5000 nodes: round trips, quiet and while pods are listed again; memory."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import resource
import statistics
import time
from collections.abc import Iterable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

Row = tuple[str, float, str, float | None]

NODES = 5000
PODS = 150_000
PAGE = 500


def _node(number: int) -> dict[str, Any]:
    return {
        "metadata": {"name": f"node-{number}", "labels": {"zone": "abc"[number % 3], "host": f"node-{number}"}},
        "spec": {},
        "status": {"allocatable": {"cpu": "32", "memory": "128Gi", "pods": "110"}},
    }


def _pod(number: int) -> dict[str, Any]:
    """About as large as real ones, most of which nobody reads: 4 kB."""
    cpu, memory = f"{50 + number % 7 * 50}m", f"{64 << number % 4}Mi"
    environment = [{"name": f"VARIABLE_{i}", "value": f"some-longer-value-{number}-{i}"} for i in range(30)]
    return {
        "metadata": {
            "name": f"workload-{number // 30}-{number:x}",
            "namespace": f"team-{number % 50}",
            "uid": f"00000000-0000-0000-0000-{number:012d}",
            "labels": {"app": f"workload-{number // 30}", "pod-template-hash": "5d4f8c7b9"},
            "annotations": {"checksum/config": "0123456789abcdef" * 4},
            "ownerReferences": [{"kind": "ReplicaSet", "name": f"workload-{number // 30}", "controller": True}],
        },
        "spec": {
            "nodeName": f"node-{number % NODES}",
            "containers": [
                {
                    "name": "main",
                    "image": "registry.example.io/team/image:1.2.3",
                    "env": environment,
                    "resources": {"requests": {"cpu": cpu, "memory": memory}, "limits": {"memory": memory}},
                    "volumeMounts": [{"name": f"kube-api-access-{number:x}", "mountPath": "/var/run/secrets"}],
                }
            ],
            "volumes": [{"name": f"kube-api-access-{number:x}", "projected": {"sources": []}}],
            "tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}],
        },
        "status": {
            "phase": "Running",
            "conditions": [
                {"type": each, "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
                for each in ("Initialized", "Ready", "ContainersReady", "PodScheduled")
            ],
        },
    }


def _pages(make: Any, count: int) -> Iterator[bytes]:
    for start in range(0, count, PAGE):
        end = min(start + PAGE, count)
        metadata = {"resourceVersion": "1", **({"continue": str(end)} if end < count else {})}
        yield json.dumps({"metadata": metadata, "items": [make(i) for i in range(start, end)]}).encode()


def api_server(port: Connection) -> None:
    """An API server in a process of its own: prepared pages, and watches that end when told to."""
    from aiohttp import web

    pages = {
        "nodes": list(_pages(_node, NODES)),
        "pods": list(_pages(_pod, PODS)),
        "resourcequotas": list(_pages(_node, 0)) or [b'{"metadata": {"resourceVersion": "1"}, "items": []}'],
    }
    expired = asyncio.Event()

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/expire":
            expired.set()
            return web.Response()
        if not request.query.get("watch"):
            page = pages[request.path.rpartition("/")[2]][int(request.query.get("continue", 0)) // PAGE]
            return web.Response(body=page, content_type="application/json")
        response = web.StreamResponse()
        await response.prepare(request)
        await expired.wait()
        expired.clear()
        await response.write(b'{"type": "ERROR", "object": {"code": 410}}\n')
        return response

    async def serve() -> None:
        app = web.Application()
        app.router.add_get("/{path:.*}", answer)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        port.send(runner.addresses[0][1])
        await asyncio.Event().wait()

    asyncio.run(serve())


def estimator(api_port: int, port: Connection) -> None:
    """The estimator in a process of its own; answers its memory in megabytes when asked."""
    from estimator.service.server import EstimatorServer
    from estimator.service.settings import Settings

    async def serve() -> None:
        with TemporaryDirectory() as folder:
            config = Path(folder) / "config"
            config.write_text(
                "{kind: Config, current-context: a, contexts: [{name: a, context: {cluster: a}}],"
                f' clusters: [{{name: a, cluster: {{server: "http://127.0.0.1:{api_port}"}}}}]}}'
            )
            settings = Settings(
                clusters=[f"member1={config}"],
                bind_address="127.0.0.1",
                server_port=0,
                metrics_address="0",
                probe_address="0",
                kube_api_qps=1000,
                kube_api_burst=1000,
            )
            async with EstimatorServer(settings) as server:
                started = time.perf_counter()
                while server.ready().problem:
                    await asyncio.sleep(0.01)
                port.send((server.port, time.perf_counter() - started))
                cluster = server.clusters["member1"]
                while True:
                    await asyncio.sleep(0.02)
                    if port.poll():
                        port.recv()
                        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
                        port.send((peak, cluster.reflections[1].relists))  # type: ignore[attr-defined]

    asyncio.run(serve())


async def _measured(port: int, api_port: int, told: Connection) -> list[Row]:
    import aiohttp
    import grpc

    from estimator.service.pb import estimator_pb2 as pb
    from estimator.service.pb import quantity_pb2, service_pb2_grpc

    def component(name: str, replicas: int, cpu: str, memory: str) -> pb.Component:
        amounts = {"cpu": cpu, "memory": memory}
        packed = {key: quantity_pb2.Quantity(string=text).SerializeToString() for key, text in amounts.items()}
        requirements = pb.ComponentReplicaRequirements(resourceRequestBytes=packed)
        return pb.Component(name=name, replicas=replicas, replicaRequirements=requirements)

    request = pb.MaxAvailableComponentSetsRequest(
        cluster="member1",
        namespace="default",
        components=[component("jobmanager", 1, "1", "2Gi"), component("taskmanager", 2, "1500m", "4Gi")],
    )
    rows: list[Row] = []
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel, aiohttp.ClientSession() as session:
        stub = service_pb2_grpc.EstimatorStub(channel)

        async def once() -> float:
            start = time.perf_counter()
            answer = await stub.MaxAvailableComponentSets(request)
            assert answer.maxSets > 0
            return (time.perf_counter() - start) * 1000

        quiet = [await once() for _ in range(40)]
        rows.append((f"round trip, {NODES} nodes, {PODS} pods known, median", statistics.median(quiet), "ms", 50.0))
        rows.append(("the same, 99th percentile", statistics.quantiles(quiet, n=100)[98], "ms", None))

        await session.get(f"http://127.0.0.1:{api_port}/expire")
        busy: list[float] = []
        started = time.perf_counter()
        while time.perf_counter() - started < 15:
            busy.append(await once())
            await asyncio.sleep(0.05)
        told.send(None)
        peak, lists = told.recv()
        assert lists > 1, "the pods were listed again"
        rows.append(("round trip while all pods are listed again, median", statistics.median(busy), "ms", None))
        rows.append(("the same, 99th percentile", statistics.quantiles(busy, n=100)[98], "ms", 50.0))
        rows.append(("the estimator's memory at its highest", peak, "MB", 500.0))
    return rows


def run() -> Iterable[Row]:
    """What, value, unit, budget."""
    spawn = multiprocessing.get_context("spawn")
    processes = []
    try:
        here, there = spawn.Pipe()
        processes.append(spawn.Process(target=api_server, args=(there,), daemon=True))
        processes[-1].start()
        api_port = here.recv()
        ours, theirs = spawn.Pipe()
        processes.append(spawn.Process(target=estimator, args=(api_port, theirs), daemon=True))
        processes[-1].start()
        port, seconds = ours.recv()
        yield f"first sync of {NODES} nodes and {PODS} pods over HTTP", seconds, "s", None
        yield from asyncio.run(_measured(port, api_port, ours))
    finally:
        for process in processes:
            process.kill()


if __name__ == "__main__":
    for what, value, unit, budget in run():
        print(f"{what:65} {value:10.2f} {unit:3} {'' if budget is None else f'(budget {budget:g})'}")
