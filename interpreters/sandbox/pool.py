"""The sandbox as a server uses it: an asyncio pool in which calls wait their turn and no script starves the others.

Each author has workers of his own, so that what one author's script leaves behind, breaks or uses up is never another
author's. They are started when the pool is told of the author, or at his first call.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self, cast

from interpreters.core.engine import MOST_WAITING, Limits, Outcome, Script
from interpreters.core.errors import BusyError
from interpreters.core.languages import engines_of_languages
from interpreters.sandbox.calls import Recycling, Task
from interpreters.sandbox.dispatch import Dispatch
from interpreters.sandbox.reputation import Reputations
from interpreters.sandbox.stats import Counters, SandboxStats


class SandboxPool:
    """`size` workers for each author, or for all scripts together. `max_waiting` calls of each may wait.

    To be started in a thread that stays, because workers end with it.
    """

    def __init__(
        self,
        size: int = 2,
        *,
        limits: Limits | None = None,
        max_waiting: int = MOST_WAITING,
        engines: Mapping[str, str] | None = None,
        recycling: Recycling | None = None,
        reputations: Reputations | None = None,
        authors: Sequence[str] = ("",),
        isolated: bool = True,
    ) -> None:
        self.size = size
        self.limits = limits or Limits()
        self.max_waiting = max_waiting
        self.reputations = reputations or Reputations()
        self._engines = engines_of_languages() if engines is None else engines
        self._recycling = recycling or Recycling()
        self._counters = Counters()
        self._authors = tuple(dict.fromkeys(authors)) if isolated else ("",)
        self._isolated = isolated
        self._by_author: dict[str, Dispatch] = {}
        self._open = False

    async def start(self) -> None:
        """Start the workers and wait until every author has one ready; `InternalError` when none can be."""
        self._open = True
        try:
            await asyncio.gather(*(self._start(author).first_ready for author in self._authors))
        except BaseException:
            await self.close()
            raise

    def _start(self, author: str) -> Dispatch:
        if not self._open:
            raise BusyError("the sandbox is closed")
        dispatch = Dispatch(
            self.size,
            self._engines,
            self.limits,
            self._recycling,
            max_waiting=self.max_waiting,
            reputations=self.reputations,
            counters=self._counters,
        )
        self._by_author[author] = dispatch
        dispatch.replenish()
        return dispatch

    async def close(self) -> None:
        """Stop and collect every worker. Whoever still waits gets `BusyError`."""
        self._open = False
        dispatches, self._by_author = list(self._by_author.values()), {}
        await asyncio.gather(*(dispatch.close() for dispatch in dispatches))

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()

    async def call(
        self,
        script: Script,
        function: str,
        arguments: Sequence[bytes],
        *,
        reads_only: bool = False,
        limits: Limits | None = None,
        deadline: float | None = None,
    ) -> Outcome:
        """Run one function. The limits' seconds count from when a worker takes the call; `deadline` is absolute, on
        the clock of `time.monotonic`, and counts waiting too."""
        author = script.author if self._isolated else ""
        dispatch = self._by_author.get(author) or self._start(author)
        task = Task(script, function, arguments, reads_only, limits or self.limits, deadline)
        return cast(Outcome, await dispatch.run(task))

    async def functions(
        self, script: Script, *, limits: Limits | None = None, deadline: float | None = None
    ) -> frozenset[str]:
        """The names of the functions that the script defines."""
        author = script.author if self._isolated else ""
        dispatch = self._by_author.get(author) or self._start(author)
        task = Task(script, "", (), False, limits or self.limits, deadline)
        return cast("frozenset[str]", await dispatch.run(task))

    def hardening(self) -> dict[str, str]:
        """What confines the workers on this system, and what it lacks; empty when none is up."""
        return next((dict(one.hardening) for one in self._by_author.values() if one.hardening), {})

    def unserved(self) -> tuple[str, ...]:
        """Authors none of whose workers is up."""
        return tuple(
            author
            for author, dispatch in self._by_author.items()
            if not any(worker.connection.ready for worker in dispatch.pooled)
        )

    def stats(self) -> SandboxStats:
        """A snapshot for metrics."""
        seats = [worker for dispatch in self._by_author.values() for worker in dispatch.pooled]
        ready = sum(worker.connection.ready for worker in seats)
        return self._counters.snapshot(
            self.reputations.quarantines(time.monotonic()),
            size=self.size * max(1, len(self._by_author)),
            ready=ready,
            starting=len(seats) - ready,
            busy=sum(len(worker.pipeline) > 0 for worker in seats),
            waiting=sum(dispatch.waiting for dispatch in self._by_author.values()),
        )
