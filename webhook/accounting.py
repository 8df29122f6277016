"""The ledger and the quotas behind /admit, and the line in which Karmada's own questions wait to be recorded."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

import msgspec

from estimator.accounting.admission import AllowanceSource, Gate, Modes
from estimator.accounting.demand import WorkloadKey
from estimator.accounting.ledger import Ledger
from estimator.accounting.live import LiveAllowances
from estimator.accounting.recorder import Recorder, Sighting
from estimator.accounting.review import ObjectMetadata
from estimator.accounting.sources import FileAllowances, GivenAllowances
from estimator.snapshot.apiserver import ApiServer
from estimator.snapshot.kubeconfig import find_access
from interpreters.core.errors import InterpError
from interpreters.core.operations import Answer
from interpreters.core.wire import Reply, Request
from webhook.clusters import Clusters
from webhook.metrics import Metrics
from webhook.service import Service
from webhook.workloads import of_reply

_DRAIN_SECONDS = 5.0
_FITS_NOWHERE = "no cluster fits one set"


class _Object(msgspec.Struct, frozen=True):
    metadata: ObjectMetadata = ObjectMetadata()


@dataclass(slots=True)
class Accounting:
    """An open ledger with the gate in front of it."""

    ledger: Ledger
    gate: Gate
    recorder: Recorder
    _counted: dict[str, int] = field(default_factory=dict)

    async def unreachable(self) -> str | None:
        """For /readyz."""
        try:
            async with self.ledger.page("", read_only=True) as page:
                await page.charge(WorkloadKey("", "", "", ""))
        except InterpError as error:
            return str(error)
        return None

    def observe(self, metrics: Metrics) -> None:
        """What became of the sightings since last asked."""
        now = asdict(self.recorder.counts)
        for outcome, total in now.items():
            metrics.sightings.labels(outcome).inc(total - self._counted.get(outcome, 0))
        self._counted = now

    def see(self, request: Request, reply: Reply) -> None:
        """Karmada asked what a workload consists of: let the ledger know, later and without fail."""
        if request.operation.answer in (Answer.COMPONENTS, Answer.REPLICAS):
            asyncio.get_running_loop().call_soon(self._offer, request, reply)

    def _offer(self, request: Request, reply: Reply) -> None:
        try:
            metadata = msgspec.json.decode(request.object, type=_Object).metadata
        except msgspec.DecodeError:
            return
        if not metadata.uid:
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
    """The ledger of the settings, open for as long as the block lasts."""
    settings, clusters = service.settings, service.clusters
    async with AsyncExitStack() as stack:
        ledger = await stack.enter_async_context(
            Ledger(
                settings.ledger,
                provisional_seconds=settings.provisional_seconds,
                retention_seconds=settings.retention_seconds,
            )
        )
        quotas = await _quotas(service, stack)
        modes = Modes(settings.admission_mode, settings.admission_modes)
        validate = partial(_unfitting, clusters) if clusters else None
        recorder = Recorder(ledger, quotas, mode=settings.on_interpret, validate=validate)
        task = asyncio.create_task(recorder.serve())
        try:
            yield Accounting(ledger, Gate(ledger, quotas, modes), recorder)
            await recorder.drain(_DRAIN_SECONDS)
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def _quotas(service: Service, stack: AsyncExitStack) -> AllowanceSource:
    """Where the settings say quotas are. Raises `InputError` for files that cannot be read; a control plane that does
    not answer yet makes the server unready until it does."""
    settings = service.settings
    if settings.kubeconfig:
        access = find_access(Path(settings.kubeconfig))
        server = await stack.enter_async_context(ApiServer(access))
        live = LiveAllowances(server, told=partial(service.reloads.note, "quotas"))
        service.checks["quotas"] = live.unread
        return live
    if not settings.quotas:
        return GivenAllowances()
    files = FileAllowances(settings.quotas)
    await files.load()
    service.reloads.add("quotas", files.load)
    return files


def _unfitting(clusters: Clusters, sighting: Sighting) -> Sequence[str]:
    """What the estimator has to say about a workload that Karmada asked about; runs in a thread."""
    components = sighting.interpreted.as_components
    return () if not components or clusters.some_may_fit(components, sighting.workload.namespace) else (_FITS_NOWHERE,)
