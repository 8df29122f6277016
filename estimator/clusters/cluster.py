"""A cluster that can be asked, wherever its mirror comes from; and one that an API server feeds."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import aiohttp

from estimator.clusters.apiserver import ApiServer, Throttle
from estimator.clusters.kubeconfig import Access
from estimator.clusters.mirror import Mirror, NodeCopy, PodCopy, QuotaCopy
from estimator.clusters.records import NodeRecord, PodRecord
from estimator.clusters.reflector import Patience, Reflector, Resource
from estimator.clusters.workloads import WorkloadReference, find_owned
from estimator.fit.state import ClusterState

log = logging.getLogger(__name__)

_RESTART_SECONDS: Final = 5.0

NODES: Final = Resource("/api/v1/nodes", NodeRecord)
PODS: Final = Resource("/api/v1/pods", PodRecord, "status.phase!=Succeeded,status.phase!=Failed")
QUOTAS: Final = Resource("/api/v1/resourcequotas", dict[str, Any])

GiveWay = Callable[[], Awaitable[None]]


class Cluster(Protocol):
    """What the doors need of a cluster."""

    @property
    def name(self) -> str: ...

    @property
    def problem(self) -> str:
        """What keeps the mirror from being up to date; empty when all is well."""

    @property
    def synced(self) -> bool:
        """Whether the mirror was ever complete."""

    def staleness(self) -> float:
        """For how many seconds the mirror may have been wrong."""

    def state(self) -> ClusterState | None:
        """The mirror to estimate with; None while there is none that can be trusted."""

    def summary(self) -> Mapping[str, Any] | None:
        """Its Karmada Cluster object, if that is known: what the general estimate is made from."""

    async def unschedulable(self, workload: WorkloadReference, seconds: float) -> int | None:
        """How many pods of the workload have been waiting for a node longer than that; None as for `state`."""

    async def run(self) -> None:
        """Keep the mirror up to date until cancelled."""


def why_unknown(cluster: Cluster) -> str:
    """Why there is no state to estimate with."""
    return cluster.problem or "the cluster is being read"


async def follow(cluster: Cluster) -> None:
    """Run it for ever: a failure that nobody foresaw costs this cluster a moment, and the others nothing."""
    while True:
        try:
            await cluster.run()
        except Exception:
            log.exception("cluster %s: following it failed; starting over", cluster.name)
        await asyncio.sleep(_RESTART_SECONDS)


@dataclass(slots=True)
class LiveCluster:
    """A cluster whose API server is listed and watched."""

    name: str
    access: Access
    patience: Patience = field(default_factory=Patience)
    throttle: Throttle = field(default_factory=Throttle)
    give_way: GiveWay | None = None
    lost_after: float = 60.0
    """Seconds without contact after which the mirror is not trusted any more."""

    quotas: bool = True
    """Whether quotas are followed; without them, no right to read them is needed."""

    mirror: Mirror = field(default_factory=Mirror)
    reflectors: tuple[Reflector[Any], ...] = field(init=False)
    _server: ApiServer | None = None

    def __post_init__(self) -> None:
        def reflect(resource: Resource[Any], copy: Any) -> Reflector[Any]:
            return Reflector(self.name, resource, copy, self.patience, self.give_way)

        self.reflectors = (
            reflect(NODES, NodeCopy(self.mirror)),
            reflect(PODS, PodCopy(self.mirror)),
            *([reflect(QUOTAS, QuotaCopy(self.mirror))] if self.quotas else []),
        )

    @property
    def problem(self) -> str:
        return next((reflector.problem for reflector in self.reflectors if reflector.problem), "")

    @property
    def synced(self) -> bool:
        return all(reflector.synced.is_set() for reflector in self.reflectors)

    def staleness(self) -> float:
        now = time.monotonic()
        return now - min(reflector.fresh_until(now) for reflector in self.reflectors)

    def state(self) -> ClusterState | None:
        lost = self.problem and self.staleness() > self.lost_after
        return self.mirror.state if self.synced and not lost else None

    def summary(self) -> None:
        """A member cluster's own API server has no Cluster objects."""

    async def unschedulable(self, workload: WorkloadReference, seconds: float) -> int | None:
        workload.path()  # an unsupported kind is refused even while the cluster is lost
        if self._server is None or self.state() is None:
            return None
        try:
            owned = await find_owned(self._server, workload)
        except (aiohttp.ClientError, TimeoutError, OSError):
            return None  # the cluster is being lost
        return self.mirror.waiting_pods(owned, time.time() - max(seconds, 0.0))

    async def run(self) -> None:
        async with ApiServer(self.access, self.throttle) as server, asyncio.TaskGroup() as feeds:
            self._server = server
            for reflector in self.reflectors:
                feeds.create_task(reflector.run(server), name=f"{self.name} {reflector.resource.path}")

    async def wait_synced(self) -> None:
        for reflector in self.reflectors:
            await reflector.synced.wait()
