"""What each answered request adds to metrics and log, entered in batches: a request itself costs an append."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

from interpreters.core.kinds import GroupVersionKind
from webhook.server.logs import RequestLog
from webhook.server.metrics import Metrics

BATCH_SECONDS = 0.05
"""Not longer, so that whoever follows log or metrics does not notice."""


Used = tuple[str, float, int]
"""A script's language, the seconds that its call took, and what it cost."""


class Tally:
    """Answers that were good. What went wrong is counted and logged at once, elsewhere."""

    def __init__(self, metrics: Metrics, requests: RequestLog, label: Callable[[GroupVersionKind], str]) -> None:
        self._metrics = metrics
        self._requests = requests
        self._label = label
        self._entries: list[tuple[float, str, str, GroupVersionKind, float, Sequence[Used]]] = []

    def add(self, uid: str, operation: str, kind: GroupVersionKind, seconds: float, scripts: Sequence[Used]) -> None:
        """`scripts` are the calls of scripts that made the answer."""
        if not self._entries:
            asyncio.get_running_loop().call_later(BATCH_SECONDS, self.enter)
        self._entries.append((time.time(), uid, operation, kind, seconds, scripts))

    def enter(self) -> None:
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
