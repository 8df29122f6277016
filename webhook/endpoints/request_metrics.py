"""What each answered request adds to metrics and log, in batches: a request itself costs an append."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import NamedTuple

from interpreters.core.kinds import GroupVersionKind
from interpreters.interpretation import Interpretation
from webhook.server.logs import RequestLog
from webhook.server.metrics import Metrics

BATCH_SECONDS = 0.05
"""Not longer, so that whoever follows log or metrics does not notice."""


class _Entry(NamedTuple):
    """As little of a request as is counted: objects and answers must not be kept for it."""

    stamp: float
    uid: str
    operation: str
    kind: GroupVersionKind
    seconds: float
    scripts: list[tuple[str, float, int]]  # language, seconds and cost of each call


class RequestMetrics:
    """Answers that were good. What went wrong is counted and logged at once, elsewhere."""

    def __init__(self, metrics: Metrics, requests: RequestLog, label: Callable[[GroupVersionKind], str]) -> None:
        self._metrics = metrics
        self._requests = requests
        self._label = label
        self._entries: list[_Entry] = []

    def add(self, done: Interpretation, seconds: float) -> None:
        if not self._entries:
            asyncio.get_running_loop().call_later(BATCH_SECONDS, self.flush)
        request = done.request
        scripts = [
            (offer.candidate.script.language, outcome.seconds, outcome.cost)
            for offer, outcome in zip(done.offers, done.outcomes, strict=True)
        ]
        self._entries.append(_Entry(time.time(), request.uid, request.operation.name, request.kind, seconds, scripts))

    def flush(self) -> None:
        """Bring metrics and log up to date."""
        entries, self._entries = self._entries, []
        metrics = self._metrics
        for stamp, uid, operation, kind, seconds, scripts in entries:
            metrics.count(operation, self._label(kind), "ok").inc()
            metrics.time_request(operation).observe(seconds)
            for language, script_seconds, cost in scripts:
                metrics.time_script(operation, language).observe(script_seconds)
                metrics.weigh_script(operation, language).observe(cost)
            self._requests.answered(stamp, uid, operation, str(kind), seconds)
        self._requests.flush()
