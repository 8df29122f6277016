"""The ledger and the quotas behind /admit, and the line in which Karmada's own questions wait to be recorded."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from estimator.accounting.admission.decide import Gate, Modes, QuotaSource
from estimator.accounting.admission.review import ObjectMetadata
from estimator.accounting.admission.sightings import Recorder, Sighting
from estimator.accounting.demand import WorkloadKey
from estimator.accounting.history.series import DAY
from estimator.accounting.history.store import Retention
from estimator.accounting.ledger.database import LedgerError
from estimator.accounting.ledger.ledger import Ledger
from estimator.accounting.ledger.namespace_page import Page
from estimator.accounting.ledger.write_queue import Task
from estimator.accounting.sources.karmada_source import LiveObjects, LiveQuotas
from estimator.accounting.sources.quota_files import FileQuotas
from estimator.clusters.apiserver import ApiServer
from estimator.clusters.kubeconfig import find_access
from interpreters.background import end_tasks
from interpreters.core.operations import Answer
from interpreters.core.wire import LONGEST_UID, Reply, Request
from webhook.endpoints.admission.ledger_state import LedgerState
from webhook.endpoints.admission.objects import LiveDemands
from webhook.endpoints.admission.reconciling import ColdWatch, Reconciler
from webhook.endpoints.admission.sampling import Sampler
from webhook.endpoints.clusters import Clusters
from webhook.endpoints.service import Service
from webhook.endpoints.workloads import of_reply
from webhook.server.logs import LOGGER
from webhook.server.metrics import Metrics

_DRAIN_SECONDS = 5.0
_OPEN_SECONDS = 5.0
_COLD = "ledger"
_FITS_NOWHERE = "no cluster fits one set"


class Unready(LedgerError):
    """No decision can be made yet, for a reason that readiness tells by itself."""


class _Object(msgspec.Struct, frozen=True):
    metadata: ObjectMetadata = ObjectMetadata()


@dataclass(slots=True)
class Accounting:
    """A ledger with the gate in front of it."""

    ledger: Ledger
    gate: Gate
    recorder: Recorder
    state: LedgerState
    reconciler: Reconciler | None = None
    """None without a kubeconfig."""

    _counted: dict[str, int] = field(default_factory=dict)

    async def refuse_unready(self) -> None:
        """Raise `Unready` while no decision can be made, or only a wrong one."""
        problem = self.state.problem if not self.state.is_open.is_set() else None
        if problem is None and self.reconciler is not None:
            problem = await self.reconciler.unready()
        if problem is not None:
            raise Unready(problem)

    async def knows_pods(self, workload: WorkloadKey, seconds: float) -> bool:
        """Whether the ledger knows what pods a workload stands for."""

        async def has_parts(page: Page) -> bool:
            return bool((await page.charge(workload)).demand.parts)

        return await self.ledger.look(Task(workload, has_parts), seconds)

    def observe(self, metrics: Metrics) -> None:
        """What became of the sightings since last asked."""
        now = asdict(self.recorder.counts)
        for outcome, total in now.items():
            metrics.sightings.labels(outcome).inc(total - self._counted.get(outcome, 0))
        self._counted = now
        metrics.ledger_lag.set(self.recorder.lag)

    def see(self, request: Request, reply: Reply) -> None:
        """Karmada asked what a workload consists of: let the ledger know, later and without fail."""
        if request.operation.answer in (Answer.COMPONENTS, Answer.REPLICAS):
            asyncio.get_running_loop().call_soon(self._offer, request, reply)

    def _offer(self, request: Request, reply: Reply) -> None:
        try:
            metadata = msgspec.json.decode(request.object, type=_Object).metadata
        except msgspec.DecodeError:
            return
        if not 1 <= len(metadata.uid) <= LONGEST_UID:
            return  # no API server holds it: the doctor asks, or somebody who tries things out
        workload = WorkloadKey(request.kind.group, request.kind.kind, request.namespace, request.name)
        self.recorder.offer(
            Sighting(
                workload,
                of_reply(reply),
                uid=metadata.uid,
                generation=metadata.generation,
            )
        )


@asynccontextmanager
async def accounting(service: Service) -> AsyncIterator[Accounting]:
    """The ledger of the settings for as long as the block lasts; it is opened as soon as its database is there."""
    settings, clusters = service.settings, service.clusters
    async with AsyncExitStack() as stack:
        ledger = Ledger(
            settings.ledger,
            provisional_seconds=settings.provisional_seconds,
            retention_seconds=settings.retention_seconds,
        )
        stack.push_async_callback(ledger.close)
        state = LedgerState(ledger)
        service.admission_checks["ledger"] = state.check
        tasks: list[Coroutine[Any, Any, None]] = [state.open()]
        reconciler = None
        if settings.kubeconfig:
            server = await stack.enter_async_context(ApiServer(find_access(Path(settings.kubeconfig))))
            live = LiveQuotas(server, told=partial(service.reloads.note, "quotas"))
            service.admission_checks["quotas"] = live.unread
            demands = LiveDemands(service, LiveObjects(server))
            reconciler = Reconciler(ledger, state, server, demands, settings.reconcile_seconds)
            service.admission_checks["reconciled"] = reconciler.unready
            tasks.append(reconciler.serve())
            quotas: QuotaSource = live
            every = live.every
        else:
            files = FileQuotas(settings.quotas)
            if settings.quotas:
                await files.load()
                service.reloads.add("quotas", files.load)
                tasks.append(ColdWatch(ledger, state, lambda: files.every, partial(_warn, service)).serve())
            quotas = files
            every = files.every_one
        retention = Retention(settings.history_hour_days * DAY, settings.history_day_days * DAY)
        sampler = Sampler(ledger, state, every, service.metrics, settings.history_seconds, retention)
        tasks.append(sampler.serve())
        validate = partial(_unfitting, clusters) if clusters else None
        recorder = Recorder(ledger, quotas, mode=settings.on_interpret, validate=validate)
        gate = Gate(ledger, quotas, Modes(settings.admission_mode, settings.admission_modes))
        running = [asyncio.create_task(task) for task in (*tasks, recorder.serve())]
        try:
            # A database that is there is opened before the first request; one that is not may take its time.
            await asyncio.wait({running[0]}, timeout=_OPEN_SECONDS)
            yield Accounting(ledger, gate, recorder, state, reconciler)
            await recorder.drain(_DRAIN_SECONDS)
        finally:
            await end_tasks(running)


def _warn(service: Service, problem: str | None) -> None:
    """Tell of a cold ledger: in /readyz for as long as it lasts, in the log when it changes."""
    if problem is None:
        service.warnings.pop(_COLD, None)
    elif service.warnings.get(_COLD) != problem:
        service.warnings[_COLD] = problem
        LOGGER.warning("the ledger knows less than the quotas' status", extra={"reason": problem})


def _unfitting(clusters: Clusters, sighting: Sighting) -> Sequence[str]:
    """What the estimator has to say about a workload that Karmada asked about; runs in a thread."""
    components = sighting.interpreted.as_components
    return () if not components or clusters.some_may_fit(components, sighting.workload.namespace) else (_FITS_NOWHERE,)
