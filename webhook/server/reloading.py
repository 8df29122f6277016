"""Reloading scripts, certificates and quotas while requests are served: all or nothing, and failures are remembered."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping

from interpreters.core.errors import InterpError
from webhook.server.logs import LOGGER
from webhook.server.metrics import Metrics


class Reloads:
    """The parts that can be loaded again, and for each why its newest state is not the one that serves."""

    def __init__(self, parts: Mapping[str, Callable[[], Awaitable[str]]], metrics: Metrics) -> None:
        """A part's function loads it, swaps it in and says in a few words what it loaded."""
        self._parts = dict(parts)
        self._metrics = metrics
        self._one_at_a_time = asyncio.Lock()
        self.failures: dict[str, str] = {}

    def add(self, name: str, load: Callable[[], Awaitable[str]]) -> None:
        self._parts[name] = load

    async def reload(self, names: Iterable[str] = ()) -> None:
        """Load the named parts, or all. Never raises: a part that fails goes on with what it had."""
        async with self._one_at_a_time:
            for name in names or self._parts:
                await self._reload(name)

    def note(self, name: str, problem: str | None) -> None:
        """Hear from a part that loads itself again and again how that went; only a change is worth a line."""
        if problem == self.failures.get(name):
            return
        if problem is None:
            LOGGER.info("reloaded", extra={"what": name})
        self._conclude(name, problem)

    async def _reload(self, name: str) -> None:
        try:
            loaded = await self._parts[name]()
        except Exception as error:
            self._conclude(name, str(error) if isinstance(error, InterpError) else f"{type(error).__name__}: {error}")
        else:
            LOGGER.info("reloaded", extra={"what": name, "loaded": loaded})
            self._conclude(name, None)

    def _conclude(self, name: str, problem: str | None) -> None:
        failed = problem is not None
        if problem is None:
            self.failures.pop(name, None)
        else:
            self.failures[name] = problem
            LOGGER.error("reload failed; the old ones go on serving", extra={"what": name, "reason": problem})
        self._metrics.reloads.labels(name, "failed" if failed else "ok").inc()
        self._metrics.reload_failing.labels(name).set(int(failed))
