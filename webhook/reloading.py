"""Reloading scripts and certificates while requests are served: all or nothing, and what failed is remembered."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping

from interpreters.core.errors import InterpError
from webhook.logs import LOGGER
from webhook.metrics import Metrics


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

    async def _reload(self, name: str) -> None:
        try:
            loaded = await self._parts[name]()
        except Exception as error:
            message = str(error) if isinstance(error, InterpError) else f"{type(error).__name__}: {error}"
            self.failures[name] = message
            LOGGER.error("reload failed; the old ones go on serving", extra={"what": name, "reason": message})
        else:
            self.failures.pop(name, None)
            LOGGER.info("reloaded", extra={"what": name, "loaded": loaded})
        failed = name in self.failures
        self._metrics.reloads.labels(name, "failed" if failed else "ok").inc()
        self._metrics.reload_failing.labels(name).set(int(failed))
