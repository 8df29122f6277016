"""An estimator server and a client for tests: real sockets on the loopback, mirrors from files or a double."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc

from estimator.service.pb import service_pb2_grpc
from estimator.service.server import EstimatorServer
from estimator.service.settings import Settings

LOOPBACK: dict[str, Any] = {
    "bind_address": "127.0.0.1",
    "server_port": 0,
    "metrics_address": "0",
    "probe_address": "0",
    "grace_seconds": 2.0,
}


def mirror(folder: Path, name: str, objects: Iterable[Mapping[str, Any]]) -> str:
    """A `--cluster` value for objects that are written into a folder of their own."""
    (folder / name).mkdir()
    (folder / name / "all.json").write_text(json.dumps({"kind": "List", "items": list(objects)}))
    return f"{name}={folder / name}"


@asynccontextmanager
async def serving(*clusters: str, ready: bool = True, **settings: Any) -> AsyncIterator[EstimatorServer]:
    async with EstimatorServer(Settings(clusters=clusters, **{**LOOPBACK, **settings})) as server:
        if ready:
            await eventually(lambda: not server.ready().problem)
        yield server


@asynccontextmanager
async def client(server: EstimatorServer) -> AsyncIterator[service_pb2_grpc.EstimatorStub]:
    async with grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        yield service_pb2_grpc.EstimatorStub(channel)


async def eventually(happened: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not happened():
            await asyncio.sleep(0.005)
