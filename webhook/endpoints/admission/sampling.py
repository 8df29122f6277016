"""Sampling quotas: into the ledger's history, once for all servers, and into this server's metrics.

Metrics name the fullest keys only: quotas are made by whoever may, and each would be four series for ever.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from estimator.accounting.history.readings import quota_readings
from estimator.accounting.history.series import Reading, Subject
from estimator.accounting.history.store import Retention, record
from estimator.accounting.ledger.ledger import RECONCILED, Ledger
from estimator.quotas.objects import Quota
from interpreters.core.quantity import NANO
from webhook.endpoints.admission.ledger_state import LedgerState
from webhook.server.metrics import Metrics
from webhook.server.repeating import repeat

MOST_KEYS: Final = 500
_FIRST_SECONDS: Final = 15.0  # after a start there is more urgent work
_NEARLY: Final = 0.9  # of the interval: servers do not wake up at the same moment


@dataclass(slots=True)
class Sampler:
    """Run `serve` as a task."""

    ledger: Ledger
    state: LedgerState
    quotas: Callable[[], Awaitable[Sequence[Quota]]]
    metrics: Metrics
    seconds: float
    retention: Retention
    _shown: set[Subject] = field(default_factory=set, init=False)

    async def serve(self) -> None:
        await self.state.is_open.wait()
        await asyncio.sleep(min(self.seconds, _FIRST_SECONDS))
        await repeat(self.sample, every=self.seconds, failing="quotas cannot be sampled")

    async def sample(self) -> None:
        readings = await quota_readings(self.ledger, await self.quotas())
        self._show(readings)
        reconciled = await self.ledger.moment(RECONCILED)
        if reconciled is not None:
            self.metrics.reconciled_at.set(reconciled)
        await record(self.ledger, readings, every=self.seconds * _NEARLY, retention=self.retention)

    def _show(self, readings: Sequence[Reading]) -> None:
        """The fullest keys as metrics; those that are gone or no longer among them disappear."""
        fullest = sorted(readings, key=lambda one: (-_share(one), one.subject))[:MOST_KEYS]
        for gone in self._shown - {one.subject for one in fullest}:
            self.metrics.forget_quota(gone)
        for one in fullest:
            self.metrics.show_quota(one.subject, *(amount / NANO for amount in one[1:]))
        self._shown = {one.subject for one in fullest}
        self.metrics.quota_keys_left_out.set(len(readings) - len(fullest))


def _share(reading: Reading) -> float:
    return reading.used / reading.limit if reading.limit else float(reading.used > 0)
