"""The estimator as a process: clusters being followed, the gRPC port, probes, and an orderly end."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from typing import Final

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from estimator.pb import multicomponent_pb2, service_pb2
from estimator.pb.multicomponent_pb2_grpc import (
    add_MultiComponentEstimatorServicer_to_server as add_multi_component_estimator,
)
from estimator.pb.service_pb2_grpc import add_EstimatorServicer_to_server as add_estimator
from estimator.plugins import default_plugins
from estimator.service.clusters import find_clusters
from estimator.service.metrics import Metrics
from estimator.service.precedence import Precedence
from estimator.service.probes import Probes, ProbeServer, Verdict
from estimator.service.servicers import Desk, EstimatorServicer, MultiComponentServicer
from estimator.service.settings import QUOTA_GATE, Address, Settings
from estimator.service.tls import server_credentials
from estimator.snapshot.cluster import Cluster, follow
from interpreters.core.errors import InputError

log = logging.getLogger(__name__)

SERVICES: Final = (
    service_pb2.DESCRIPTOR.services_by_name["Estimator"].full_name,
    multicomponent_pb2.DESCRIPTOR.services_by_name["MultiComponentEstimator"].full_name,
)
_BEAT_SECONDS: Final = 0.5
_STUCK_SECONDS: Final = 10.0


class EstimatorServer:
    """Everything of one process. `async with` starts and stops it; `port`, `probe_port`, `metrics_port` say where."""

    def __init__(self, settings: Settings) -> None:
        precedence = Precedence()
        self._settings = settings
        self._clusters = find_clusters(settings, precedence)
        self._metrics = Metrics(list(self._clusters.values()))
        self._executor = ThreadPoolExecutor(min(settings.parallelism, os.cpu_count() or 1), "estimate")
        plugins = default_plugins(quotas=settings.gate(QUOTA_GATE))
        self._desk = Desk(self._clusters, plugins, self._executor, self._metrics, precedence)
        self._health = health.aio.HealthServicer()
        self._beat = time.monotonic()
        self._stack = AsyncExitStack()
        self.port = self.probe_port = self.metrics_port = 0

    @property
    def clusters(self) -> dict[str, Cluster]:
        return self._clusters

    # -- life --------------------------------------------------------------------------------------------------------

    async def __aenter__(self) -> EstimatorServer:
        try:
            await self._start()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self._stack.aclose()

    async def _start(self) -> None:
        self._stack.callback(self._executor.shutdown, wait=False, cancel_futures=True)
        self._listen_for_probes()
        tasks = [asyncio.create_task(follow(cluster)) for cluster in self._clusters.values()]
        tasks.append(asyncio.create_task(self._keep_beating()))
        self._stack.push_async_callback(_cancel, tasks)
        # Without this, a second process would silently get half of the requests.
        server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
        add_estimator(EstimatorServicer(self._desk), server)
        add_multi_component_estimator(MultiComponentServicer(self._desk), server)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, server)
        reflection.enable_server_reflection((*SERVICES, health.SERVICE_NAME, reflection.SERVICE_NAME), server)
        await self._report_health()
        self.port = self._bind(server)
        await server.start()
        self._stack.push_async_callback(self._stop, server)
        log.info("serving %s on port %d", ", ".join(sorted(self._clusters)), self.port)

    async def _stop(self, server: grpc.aio.Server) -> None:
        """Say that we are going, finish what was begun, then go."""
        await self._health.enter_graceful_shutdown()
        await server.stop(self._settings.grace_seconds)

    def _bind(self, server: grpc.aio.Server) -> int:
        settings = self._settings
        credentials = server_credentials(settings)
        # An empty address means all of them: IPv6 with IPv4 where the machine has both, else IPv4 alone.
        hosts = [settings.bind_address] if settings.bind_address else ["[::]", "0.0.0.0"]  # noqa: S104 - as upstream
        for host in hosts:
            where = f"{host}:{settings.server_port}"
            try:
                return server.add_secure_port(where, credentials) if credentials else server.add_insecure_port(where)
            except RuntimeError:
                continue
        where = f"{settings.bind_address or '*'}:{settings.server_port}"
        raise InputError(f"--server-port: cannot listen on {where}; is the port taken, the address another machine's?")

    def _listen_for_probes(self) -> None:
        probes = Probes(self.healthy, self.ready, self._metrics.registry)
        probe_address = Address.parse(self._settings.probe_address, "--health-probe-bind-address")
        metrics_address = Address.parse(self._settings.metrics_address, "--metrics-bind-address")
        if probe_address is not None:
            self.probe_port = self._listen(probe_address, probes)
        if metrics_address is not None:
            shared = metrics_address == probe_address and metrics_address.port
            self.metrics_port = self.probe_port if shared else self._listen(metrics_address, probes)

    def _listen(self, address: Address, probes: Probes) -> int:
        server = ProbeServer(address, probes)
        self._stack.callback(server.close)
        return server.port

    # -- beating -----------------------------------------------------------------------------------------------------

    async def _keep_beating(self) -> None:
        while True:
            self._beat = time.monotonic()
            await self._report_health()
            await asyncio.sleep(_BEAT_SECONDS)

    async def _report_health(self) -> None:
        answer = health_pb2.HealthCheckResponse
        status = answer.NOT_SERVING if self.ready().problem else answer.SERVING
        for service in ("", *SERVICES):
            await self._health.set(service, status)

    # -- verdicts ----------------------------------------------------------------------------------------------------

    def healthy(self) -> Verdict:
        silent = time.monotonic() - self._beat
        return Verdict(f"the event loop has not turned for {silent:.0f} s" if silent > _STUCK_SECONDS else "")

    def ready(self) -> Verdict:
        """Ready once a cluster was read and no other is still being read; one that fails holds up nobody else."""
        pending = [cluster.name for cluster in self._clusters.values() if not cluster.synced]
        reading = [name for name in pending if not self._clusters[name].problem]
        if reading or len(pending) == len(self._clusters):
            return Verdict(f"not read yet: {', '.join(sorted(pending))}")
        return Verdict()


async def serve(settings: Settings) -> None:
    """Run until SIGTERM or SIGINT."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    async with EstimatorServer(settings):
        await stopping.wait()
        log.info("stopping")


async def _cancel(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
