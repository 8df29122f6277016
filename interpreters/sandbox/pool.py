"""The sandbox as a server uses it: an asyncio pool in which calls wait their turn and no script starves the others."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self, cast

from interpreters.core.engine import Limits, Outcome, Script
from interpreters.core.errors import BusyError
from interpreters.sandbox.calls import ENGINES, Recycling, Task, check_input
from interpreters.sandbox.crew import Crew
from interpreters.sandbox.dispatch import Dispatch
from interpreters.sandbox.standing import Standings
from interpreters.sandbox.stats import Counters, SandboxStats
from interpreters.sandbox.tray import Job


class SandboxPool:
    """`size` workers for all scripts. To be started in a thread that stays, because workers end with it."""

    def __init__(
        self,
        size: int = 2,
        *,
        limits: Limits | None = None,
        max_waiting: int = 256,
        engines: Mapping[str, str] = ENGINES,
        recycling: Recycling | None = None,
        standings: Standings | None = None,
    ) -> None:
        self.size = size
        self.limits = limits or Limits()
        self.max_waiting = max_waiting
        self.standings = standings or Standings()
        self._engines = engines
        self._recycling = recycling or Recycling()
        self._counters = Counters()
        self._dispatch: Dispatch | None = None

    async def start(self) -> None:
        """Start the workers and wait until one is ready; `InternalError` when none can be."""
        dispatch = Dispatch(self.size, self.limits, self.max_waiting, self.standings, self._counters)
        dispatch.crew = Crew(self.size, self._engines, self.limits, self._recycling, dispatch)
        self._dispatch = dispatch
        dispatch.crew.replenish()
        try:
            await dispatch.someone_ready
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Stop and collect every worker. Whoever still waits gets `BusyError`."""
        dispatch, self._dispatch = self._dispatch, None
        if dispatch is not None:
            await dispatch.close()

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
        task = Task(script, function, arguments, reads_only, limits or self.limits, deadline)
        return cast(Outcome, await self._submit(task))

    async def functions(
        self, script: Script, *, limits: Limits | None = None, deadline: float | None = None
    ) -> frozenset[str]:
        """The names of the functions that the script defines."""
        task = Task(script, "", (), False, limits or self.limits, deadline)
        return cast("frozenset[str]", await self._submit(task))

    def hardening(self) -> dict[str, str]:
        """What confines the workers on this system, and what it lacks; empty when none is up."""
        return dict(self._dispatch.hardening) if self._dispatch else {}

    def stats(self) -> SandboxStats:
        """A snapshot for metrics."""
        seats = self._dispatch.crew.seats if self._dispatch else set()
        ready = sum(seat.conversation.ready for seat in seats)
        return self._counters.snapshot(
            self.standings.sentences(time.monotonic()),
            size=self.size,
            ready=ready,
            starting=len(seats) - ready,
            busy=sum(len(seat.tray) > 0 for seat in seats),
            waiting=self._dispatch.waiting if self._dispatch else 0,
        )

    async def _submit(self, task: Task) -> Outcome | frozenset[str]:
        dispatch = self._dispatch
        if dispatch is None:
            raise BusyError("the sandbox is closed")
        check_input(task)
        loop = asyncio.get_running_loop()
        self.standings.check(task, loop.time())
        job = Job(task, loop.create_future())
        self._counters.calls += 1
        dispatch.submit(job)
        try:
            return await job.future
        except asyncio.CancelledError:
            dispatch.abandon(job)
            raise
