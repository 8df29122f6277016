"""The methods of the gRPC services: find the cluster, read the request, estimate in a thread, answer a number.

A cluster that is not known well enough is answered with -1 (no opinion) instead of an error, because the scheduler
drops this estimator's answers for *all* clusters when one of them fails.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

import grpc

from estimator.clusters.apiserver import ApiError
from estimator.clusters.cluster import Cluster, why_unknown
from estimator.clusters.workloads import WorkloadReference
from estimator.fit.bounds import check_assumed, check_components, check_requirements
from estimator.fit.framework import Plugin
from estimator.fit.model import NO_OPINION, Code
from estimator.fit.question import Question, Ways, replicas_question, sets_question
from estimator.fit.threads import EstimateThreads
from estimator.service import wire
from estimator.service.metrics import Metrics
from estimator.service.pb import (
    estimator_pb2,
    multicomponent_pb2,
    multicomponent_pb2_grpc,
    service_pb2_grpc,
)
from estimator.service.precedence import Precedence
from interpreters.core.errors import BusyError, InterpError, RequestError

log = logging.getLogger(__name__)

Context = grpc.aio.ServicerContext[Any, Any]

STALENESS: Final = "interp-staleness-seconds"
NO_OPINION_BECAUSE: Final = "interp-no-opinion"
_MOST_SECONDS: Final = 30.0  # for an estimate, whatever the caller gives
_LONGEST_NAME: Final = 253


@dataclass(slots=True)
class Handlers:
    """What every method needs: the clusters, the plugins, the threads that estimate, and the metrics."""

    clusters: Mapping[str, Cluster]
    plugins: list[Plugin]
    threads: EstimateThreads
    metrics: Metrics
    precedence: Precedence = field(default_factory=Precedence)

    async def estimate(self, kind: str, request: Any, context: Context, asked: Callable[[], Question]) -> int:
        """The number for one cluster: the question is read and asked in a thread, of a state that stands still."""
        loop = asyncio.get_running_loop()
        remaining = context.time_remaining()
        deadline = loop.time() + min(remaining if remaining is not None else _MOST_SECONDS, _MOST_SECONDS)

        async def count(cluster: Cluster) -> int | None:
            state = cluster.state()
            still = state.still() if state else None
            answered = await self.threads.run(request.ByteSize(), deadline, lambda: asked().ask(still))
            estimate = answered.estimate
            if estimate.code is Code.ERROR:
                log.error("cluster %s: %s", cluster.name, "; ".join(estimate.reasons))
                return self._no_opinion(kind, cluster, context, "a plugin failed")
            log.debug("cluster %s: %s %s, %s", cluster.name, estimate.count, estimate.unit, estimate.binding)
            return estimate.count if answered.has_opinion else None

        return await self.answer(kind, request.cluster, context, count)

    async def answer(
        self, kind: str, name: str, context: Context, count: Callable[[Cluster], Awaitable[int | None]]
    ) -> int:
        """Find the cluster, count, and record it, whatever happens."""
        started, good = time.monotonic(), False
        try:
            cluster = self.clusters.get(name)
            if cluster is None:
                # Worded as karmada-scheduler-estimator words it, under the code that its plain Go error gets.
                desired = ", ".join(sorted(self.clusters))
                await abort(
                    context,
                    grpc.StatusCode.UNKNOWN,
                    f"cluster name does not match, got: {name:.253}, desire: {desired}",
                )
            self._tell(context, cluster)
            with self.precedence.answering():
                counted = await count(cluster)
            if counted is None:
                counted = self._no_opinion(kind, cluster, context, why_unknown(cluster))
            good = True
        except RequestError as error:
            await abort(context, grpc.StatusCode.INVALID_ARGUMENT, f"{error!s:.1000}")
        except BusyError as error:
            await abort(context, grpc.StatusCode.DEADLINE_EXCEEDED, str(error))
        finally:
            self.metrics.record(kind, time.monotonic() - started, good=good)
        log.info("%s of %s in cluster %s: %d", kind, _object(context), name, counted)
        return counted

    def _no_opinion(self, kind: str, cluster: Cluster, context: Context, why: str) -> int:
        self.metrics.no_opinion.labels(cluster.name, kind).inc()
        self._tell(context, cluster, (NO_OPINION_BECAUSE, _plain(why)))
        return NO_OPINION

    def _tell(self, context: Context, cluster: Cluster, *more: tuple[str, str]) -> None:
        staleness = f"{cluster.staleness():.3f}" if cluster.synced else "unknown"
        context.set_trailing_metadata(((STALENESS, staleness), *more))


class EstimatorServicer(service_pb2_grpc.EstimatorServicer):
    """The service that karmada-scheduler and karmada-descheduler call."""

    def __init__(self, handlers: Handlers) -> None:
        self._handlers = handlers

    async def MaxAvailableReplicas(
        self, request: estimator_pb2.MaxAvailableReplicasRequest, context: Context
    ) -> estimator_pb2.MaxAvailableReplicasResponse:
        def asked() -> Question:
            requirements = wire.replica_requirements(request)
            assumed = wire.assumed_workloads(request.assumedWorkloads)
            check_requirements(requirements)
            check_assumed(assumed)
            return replicas_question(requirements, Ways(assumed, plugins=self._handlers.plugins))

        count = await self._handlers.estimate("MaxAvailableReplicas", request, context, asked)
        return estimator_pb2.MaxAvailableReplicasResponse(maxReplicas=count)

    async def MaxAvailableComponentSets(
        self, request: estimator_pb2.MaxAvailableComponentSetsRequest, context: Context
    ) -> estimator_pb2.MaxAvailableComponentSetsResponse:
        def asked() -> Question:
            components = wire.components(request.components)
            assumed = wire.assumed_workloads(request.assumedWorkloads)
            check_components(components)
            check_assumed(assumed)
            return sets_question(components, request.namespace, Ways(assumed, plugins=self._handlers.plugins))

        count = await self._handlers.estimate("MaxAvailableComponentSets", request, context, asked)
        return estimator_pb2.MaxAvailableComponentSetsResponse(maxSets=count)

    async def GetUnschedulableReplicas(
        self, request: estimator_pb2.UnschedulableReplicasRequest, context: Context
    ) -> estimator_pb2.UnschedulableReplicasResponse:
        resource = request.resource
        if max(map(len, (resource.apiVersion, resource.kind, resource.namespace, resource.name))) > _LONGEST_NAME:
            await abort(
                context,
                grpc.StatusCode.INVALID_ARGUMENT,
                f"resource: expected names of at most {_LONGEST_NAME} characters",
            )
        workload = WorkloadReference(resource.apiVersion, resource.kind, resource.namespace, resource.name)

        async def waiting(cluster: Cluster) -> int | None:
            try:
                return await cluster.unschedulable(workload, request.unschedulableThreshold / 1e9)
            except ApiError as error:
                code = grpc.StatusCode.NOT_FOUND if error.status == 404 else grpc.StatusCode.UNAVAILABLE
                await abort(context, code, str(error))

        count = await self._handlers.answer("GetUnschedulableReplicas", request.cluster, context, waiting)
        return estimator_pb2.UnschedulableReplicasResponse(unschedulableReplicas=count)


class MultiComponentServicer(multicomponent_pb2_grpc.MultiComponentEstimatorServicer):
    """The separate service that the proposal describes."""

    def __init__(self, handlers: Handlers) -> None:
        self._handlers = handlers

    async def MaxAvailableComponentSets(
        self, request: multicomponent_pb2.MaxAvailableComponentSetsRequest, context: Context
    ) -> multicomponent_pb2.MaxAvailableComponentSetsResponse:
        def asked() -> Question:
            components, namespace = wire.multi_components(request.components)
            check_components(components)
            return sets_question(components, namespace, Ways(plugins=self._handlers.plugins))

        count = await self._handlers.estimate("MultiComponentSets", request, context, asked)
        return multicomponent_pb2.MaxAvailableComponentSetsResponse(maxSets=count)


async def abort(context: Context, code: grpc.StatusCode, message: str) -> NoReturn:
    await context.abort(code, message)
    raise InterpError(message)  # abort never returns; this tells the type checker


def _object(context: Context) -> str:
    """The object being scheduled, as the scheduler names it in the metadata."""
    found = dict(tuple(context.invocation_metadata() or ())).get("object", "an unnamed object")
    return f"{found if isinstance(found, str) else found.decode(errors='replace'):.300}"


def _plain(text: str) -> str:
    """Metadata is printable ASCII."""
    return text.encode("ascii", "replace").decode()[:200]
