"""The estimator as a process: clusters being followed, the gRPC port, probes, and an orderly end."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import time
from contextlib import AsyncExitStack
from typing import Final

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from estimator.clusters.cluster import Cluster, follow
from estimator.fit.plugins import default_plugins
from estimator.fit.threads import EstimateThreads
from estimator.service.clusters import find_clusters
from estimator.service.metrics import Metrics
from estimator.service.pb import multicomponent_pb2, service_pb2
from estimator.service.pb.multicomponent_pb2_grpc import (
    add_MultiComponentEstimatorServicer_to_server as add_multi_component_estimator,
)
from estimator.service.pb.service_pb2_grpc import add_EstimatorServicer_to_server as add_estimator
from estimator.service.precedence import Precedence
from estimator.service.probes import Probes, ProbeServer, Verdict
from estimator.service.servicers import EstimatorServicer, Handlers, MultiComponentServicer
from estimator.service.settings import Address, Settings
from estimator.service.tls import server_credentials
from interpreters.core.errors import InputError
from interpreters.core.karmada.api import QUOTA_ESTIMATE

log = logging.getLogger(__name__)

SERVICES: Final = (
    service_pb2.DESCRIPTOR.services_by_name["Estimator"].full_name,
    multicomponent_pb2.DESCRIPTOR.services_by_name["MultiComponentEstimator"].full_name,
)
MOST_MESSAGE: Final = 4 * 1024 * 1024  # what gRPC takes unless told otherwise, upstream too
MOST_AT_ONCE: Final = 1024  # requests; the scheduler asks about one workload for all clusters at once
_OPTIONS: Final = (
    ("grpc.so_reuseport", 0),  # without this, a second process would silently get half of the requests
    ("grpc.max_receive_message_length", MOST_MESSAGE),
    ("grpc.max_concurrent_streams", MOST_AT_ONCE // 2),  # of one connection
)
_LOOPBACK: Final = ["127.0.0.1", "[::1]"]
_EVERYWHERE: Final = ["[::]", "0.0.0.0"]  # noqa: S104 - IPv6 with IPv4 where the machine has both, else IPv4 alone
_BEAT_SECONDS: Final = 0.5
_STUCK_SECONDS: Final = 10.0


class EstimatorServer:
    """Everything of one process. `async with` starts and stops it; `port`, `probe_port`, `metrics_port` say where."""

    def __init__(self, settings: Settings) -> None:
        precedence = Precedence()
        self._settings = settings
        self._clusters = find_clusters(settings, precedence)
        self._metrics = Metrics(list(self._clusters.values()))
        self._threads = EstimateThreads(min(settings.parallelism, os.cpu_count() or 1))
        plugins = default_plugins(quotas=settings.gate(QUOTA_ESTIMATE))
        self._handlers = Handlers(self._clusters, plugins, self._threads, self._metrics, precedence)
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
        self._stack.callback(self._threads.close)
        self._listen_for_probes()
        tasks = [asyncio.create_task(follow(cluster)) for cluster in self._clusters.values()]
        tasks.append(asyncio.create_task(self._keep_beating()))
        self._stack.push_async_callback(_cancel, tasks)
        server = grpc.aio.server(options=_OPTIONS, maximum_concurrent_rpcs=MOST_AT_ONCE)
        add_estimator(EstimatorServicer(self._handlers), server)
        add_multi_component_estimator(MultiComponentServicer(self._handlers), server)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, server)
        if self._settings.reflection:
            reflection.enable_server_reflection((*SERVICES, health.SERVICE_NAME, reflection.SERVICE_NAME), server)
        await self._report_health()
        self.port = self._bind(server)
        await server.start()
        self._stack.push_async_callback(self._stop, server)
        log.info("serving %s on port %d", ", ".join(sorted(self._clusters)), self.port)
        for sentence in self._settings.without_effect():
            log.warning("%s", sentence)

    async def _stop(self, server: grpc.aio.Server) -> None:
        """Say that we are going, finish what was begun, then go."""
        await self._health.enter_graceful_shutdown()
        await server.stop(self._settings.grace_seconds)

    def _bind(self, server: grpc.aio.Server) -> int:
        """The port taken. Where anybody may read and ask, that is said: by certificates or by an address."""
        settings = self._settings
        credentials = server_credentials(settings)
        if settings.bind_address:
            hosts = [_in_brackets(settings.bind_address)]
        elif credentials:
            hosts = _EVERYWHERE
        else:
            hosts = _LOOPBACK
            log.warning(
                "plain text on this machine's loopback only; give --grpc-auth-cert-file and --grpc-auth-key-file for "
                "TLS, or --bind-address 0.0.0.0 for plain text to everybody"
            )
        port = 0
        for host in hosts:
            where = f"{host}:{port or settings.server_port}"
            try:
                port = server.add_secure_port(where, credentials) if credentials else server.add_insecure_port(where)
            except RuntimeError:
                continue
            if hosts is _EVERYWHERE:
                break
        if not port:
            where = f"{settings.bind_address or '*'}:{settings.server_port}"
            raise InputError(
                f"--server-port: cannot listen on {where}; is the port taken, the address another machine's?"
            )
        return port

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


def _in_brackets(address: str) -> str:
    """As gRPC wants an address of IPv6, before its port."""
    return f"[{address}]" if ":" in address and not address.startswith("[") else address
