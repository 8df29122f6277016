"""Telling the ledger what Karmada asks: a bounded line behind the webhook that never delays or fails a reply.

Whoever reaches the webhook can ask like Karmada, so a sighting charges nobody: it confirms what was admitted, and what
was not is noted for auditors beside the charges.

The newest sighting of a workload replaces an older one still in line, so a busy object takes one place. When the line
is full the sighting is shed and counted: Karmada asks again at the next change, and a reconcile mends the rest.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from estimator.accounting.admission.checks import excesses, needs_scopes
from estimator.accounting.admission.decide import QuotaSource
from estimator.accounting.demand import WorkloadKey, demand_of
from estimator.accounting.ledger.charges import admitted
from estimator.accounting.ledger.ledger import Ledger
from estimator.accounting.ledger.namespace_page import Page
from estimator.accounting.ledger.write_queue import Task
from interpreters.core.errors import InterpError
from interpreters.core.interpreted import Interpreted

OnInterpret = Literal["off", "record", "warn"]
Validation = Callable[["Sighting"], Sequence[str]]
"""What the estimator has to say about a sighting, such as that no cluster fits one set. It runs in a thread."""

log = logging.getLogger("interp.accounting")


@dataclass(frozen=True, slots=True)
class Sighting:
    """A workload that Karmada asked about, and the pods it stands for."""

    workload: WorkloadKey
    interpreted: Interpreted
    uid: str = ""
    generation: int = 0


@dataclass(slots=True)
class Counts:
    """What became of the sightings; the webhook shows these as metrics."""

    recorded: int = 0
    unadmitted: int = 0
    """Of those recorded: not charged as they were seen."""

    shed: int = 0
    failed: int = 0
    warned: int = 0


class Recorder:
    """Run `serve()` as a task; `offer()` from the request handler after the reply is written."""

    def __init__(
        self,
        ledger: Ledger,
        quotas: QuotaSource,
        *,
        mode: OnInterpret = "record",
        capacity: int = 1000,
        validate: Validation | None = None,
        on_warning: Callable[[Sighting, str], None] | None = None,
    ) -> None:
        self.ledger, self.quotas, self.mode, self.capacity = ledger, quotas, mode, capacity
        self.validate = validate
        self.on_warning = on_warning or (lambda sighting, text: log.warning("%s: %s", sighting.workload, text))
        self.counts = Counts()
        self._line: dict[WorkloadKey, tuple[float, Sighting]] = {}
        self._taken_at: float | None = None
        self._arrived = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()

    def __len__(self) -> int:
        return len(self._line)

    @property
    def lag(self) -> float:
        """Seconds that the oldest sighting waits which is in line or being written; 0 when there is none."""
        oldest = next(iter(self._line.values()), (None,))[0] if self._taken_at is None else self._taken_at
        return 0.0 if oldest is None else time.monotonic() - oldest

    def offer(self, sighting: Sighting) -> bool:
        """Put a sighting in line, at once and without fail; False when it was shed."""
        if self.mode == "off":
            return False
        if sighting.workload not in self._line and len(self._line) >= self.capacity:
            self.counts.shed += 1
            return False
        self._line.pop(sighting.workload, None)
        self._line[sighting.workload] = time.monotonic(), sighting
        self._idle.clear()
        self._arrived.set()
        return True

    async def serve(self) -> None:
        """Work the line off until cancelled."""
        while True:
            await self._arrived.wait()
            while self._line:
                self._taken_at, sighting = self._line.pop(next(iter(self._line)))
                try:
                    await self._take(sighting)
                except InterpError as error:
                    self.counts.failed += 1
                    log.warning("%s: not recorded: %s", sighting.workload, error)
                except Exception:  # the line must go on, or everything after this is shed
                    self.counts.failed += 1
                    log.exception("%s: not recorded", sighting.workload)
            self._taken_at = None
            self._arrived.clear()
            self._idle.set()

    async def drain(self, seconds: float) -> bool:
        """Wait until the line is empty, at most that long."""
        try:
            await asyncio.wait_for(self._idle.wait(), seconds)
        except TimeoutError:
            return False
        return True

    async def _take(self, sighting: Sighting) -> None:
        demand = demand_of(list(sighting.interpreted.as_components))
        workload = sighting.workload
        quotas = await self.quotas.of_namespace(workload.namespace) if self.mode == "warn" else ()

        async def note(page: Page) -> tuple[bool, list[str]]:
            before = await page.charge(workload)
            warnings = []
            if quotas:
                after = admitted(before, demand, None, generation=sighting.generation, expires_at=page.now)
                others = await page.others(before, after, scopes=needs_scopes(quotas))
                warnings = [str(excess) for excess in excesses(quotas, others, before, after)]
            return await page.sight(workload, demand, uid=sighting.uid, generation=sighting.generation), warnings

        is_charged, warnings = await self.ledger.submit(Task(workload, note))
        self.counts.recorded += 1
        self.counts.unadmitted += not is_charged
        if self.mode == "warn" and self.validate is not None:
            warnings += await asyncio.to_thread(self.validate, sighting)
        for text in warnings:
            self.counts.warned += 1
            self.on_warning(sighting, text)
