"""The sandbox as a server uses it: an asyncio pool in which calls wait their turn and no script starves the others."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self, cast

from interpreters.core.engine import Limits, Outcome, Script
from interpreters.core.errors import BusyError, InternalError, InterpError
from interpreters.sandbox.calls import (
    ENGINES,
    Recycling,
    Task,
    check_input,
    died,
    lied,
    overdue,
    patience,
    ran_out_of_time,
    reason_of,
    settle,
    spoils,
    too_late,
)
from interpreters.sandbox.crew import Crew, Seat
from interpreters.sandbox.messages import ProtocolError, Reply
from interpreters.sandbox.process import MEMORY, OUTSIDE
from interpreters.sandbox.standing import Standings, digest_of
from interpreters.sandbox.stats import Counters, SandboxStats
from interpreters.sandbox.waiting import FairQueue, Turnstile

ABANDONED = 0.05
"""Seconds a worker may go on with a call nobody waits for any more: most are done before a new worker would be up."""


class _Job:
    """A call that somebody awaits."""

    __slots__ = ("digest", "doubtful", "future", "retried", "seat", "seconds", "task", "timer")

    def __init__(self, task: Task, future: asyncio.Future[Outcome | frozenset[str]]) -> None:
        self.task = task
        self.digest = digest_of(task.script)
        self.future = future
        self.doubtful = False
        self.retried = False
        self.seconds = 0.0
        self.seat: Seat | None = None
        self.timer: asyncio.TimerHandle | None = None

    def fail(self, error: InterpError) -> None:
        if not self.future.done():
            self.future.set_exception(error)


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
        self._turnstile = Turnstile(size, self.standings)
        self._queue: FairQueue[_Job] = FairQueue()
        self._idle: list[Seat] = []
        self._counters = Counters()
        self._hardening: dict[str, str] = {}
        self._crew: Crew | None = None

    async def start(self) -> None:
        """Start the workers and wait until one is ready; `InternalError` when none can be."""
        self._loop = asyncio.get_running_loop()
        self._someone_ready: asyncio.Future[None] = self._loop.create_future()
        self._crew = Crew(self.size, self._engines, self.limits, self._recycling, self)
        self._crew.replenish()
        try:
            await self._someone_ready
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Stop and collect every worker. Whoever still waits gets `BusyError`."""
        crew, self._crew = self._crew, None
        if crew is None:
            return
        running = [cast(_Job, seat.busy) for seat in crew.seats if seat.busy]
        for job in [*self._queue, *running]:
            self._queue.leave(job)
            job.fail(BusyError("the sandbox is closing"))
        self._idle.clear()
        await crew.close()

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
        """What confines the workers on this system, and what it lacks."""
        return dict(self._hardening)

    def stats(self) -> SandboxStats:
        """A snapshot for metrics."""
        seats = self._crew.seats if self._crew else set()
        ready = sum(seat.conversation.ready for seat in seats)
        busy = sum(seat.busy is not None for seat in seats)
        return self._counters.snapshot(
            self.standings,
            size=self.size,
            ready=ready,
            starting=len(seats) - ready,
            busy=busy,
            waiting=len(self._queue),
        )

    async def _submit(self, task: Task) -> Outcome | frozenset[str]:
        if self._crew is None:
            raise BusyError("the sandbox is closed")
        check_input(task)
        self.standings.check(task.script, task.function)
        job = _Job(task, self._loop.create_future())
        self._counters.calls += 1
        if self._idle and not self._queue and self._turnstile.admits(job.digest, self._loop.time()):
            self._begin(self._idle.pop(), job)
        else:
            self._wait(job)
        try:
            return await job.future
        except asyncio.CancelledError:
            self._abandon(job)
            raise

    def _wait(self, job: _Job) -> None:
        if len(self._queue) >= self.max_waiting:
            raise BusyError(f"{self.max_waiting} calls are waiting for a worker already")
        trusted = self.standings.proven(job.digest) and not self.standings.suspect(job.digest, self._loop.time())
        if not trusted and self._queue.length_of(job.digest) >= max(1, self.max_waiting // 2):
            raise BusyError(f"{self.max_waiting // 2} calls of {job.task.script.name} are waiting for a worker already")
        self._enqueue(job)
        self._serve()

    def _enqueue(self, job: _Job, *, first: bool = False) -> None:
        if job.task.deadline is not None:
            job.timer = self._loop.call_at(job.task.deadline, self._waited_too_long, job)
        self._queue.join(job, first=first)

    def _waited_too_long(self, job: _Job) -> None:
        self._queue.leave(job)
        job.fail(too_late())

    def _serve(self) -> None:
        """Give idle workers to those whose turn it is."""
        while self._idle and (job := self._queue.next(self._turnstile, self._loop.time())):
            if job.timer:
                job.timer.cancel()
            try:
                self.standings.check(job.task.script, job.task.function)
            except InterpError as error:
                job.fail(error)
            else:
                self._begin(self._idle.pop(), job)

    def _begin(self, seat: Seat, job: _Job) -> None:
        now = self._loop.time()
        job.seconds = job.task.seconds(now)
        try:
            if job.seconds <= 0:
                raise too_late()
            frame = seat.conversation.call(job.task, job.seconds)
        except InterpError as error:
            job.fail(error)
            self._idle.append(seat)
            return
        self._turnstile.enter(job, now)
        seat.busy, job.seat = job, seat
        seat.timer = self._loop.call_at(now + patience(job.seconds), self._expire, seat, job)
        if self._crew is not None:
            self._crew.send(seat, memoryview(frame))

    def _abandon(self, job: _Job) -> None:
        self._queue.leave(job)
        if job.timer:
            job.timer.cancel()
        seat = job.seat
        if seat is not None and seat.timer is not None and seat.timer.when() > self._loop.time() + ABANDONED:
            seat.stop_timer()
            seat.timer = self._loop.call_later(ABANDONED, self._expire, seat, job)

    def _expire(self, seat: Seat, job: _Job) -> None:
        self._leave(seat, job)
        if self._crew is not None:
            self._crew.remove(seat)
            self._crew.replenish()
        if job.future.cancelled():
            self._counters.kills["cancelled"] += 1
        else:
            self._counters.kills["time"] += 1
            if job.task.unhurried(job.seconds):
                self.standings.lose(job.task.script, "time", self._loop.time())
            job.fail(overdue(job.task, job.seconds))
        self._serve()

    def _leave(self, seat: Seat, job: _Job) -> None:
        self._turnstile.leave(job)
        seat.stop_timer()
        seat.busy = job.seat = None

    def on_ready(self, seat: Seat) -> None:
        self._hardening = seat.conversation.hardening
        if not self._someone_ready.done():
            self._someone_ready.set_result(None)
        self._rest(seat)
        for old in [idle for idle in self._idle if idle.retiring]:
            self._idle.remove(old)
            self._rest(old)

    def on_reply(self, seat: Seat, reply: Reply) -> None:
        job = cast("_Job | None", seat.busy)
        if job is None:
            raise ProtocolError("a reply to nothing")
        result, spent = settle(job.task, reply)
        self._leave(seat, job)
        if isinstance(result, InterpError):
            job.fail(result)
        elif not job.future.done():
            job.future.set_result(result)
        if spoils(result) or (ran_out_of_time(result) and job.task.unhurried(job.seconds)):
            self.standings.strike(job.digest, self._loop.time())
        else:
            self.standings.prove(job.digest)
        if spoils(result) and self._crew is not None:
            self._counters.kills[MEMORY] += 1
            self._crew.remove(seat)
            self._crew.replenish()
            self._serve()
            return
        if spent and not seat.retiring and self._crew is not None:
            seat.retiring = True
            self._crew.replenish()
        self._rest(seat)

    def _rest(self, seat: Seat) -> None:
        """A worker has nothing to do: it retires if its successor is there, else it serves whoever waits."""
        if self._crew is None:
            return
        if seat.retiring and self._crew.replaced():
            self._counters.recycled += 1
            self._crew.remove(seat)
        else:
            self._idle.append(seat)
        if self._queue:
            self._serve()

    def on_hang_up(self, seat: Seat) -> None:
        if seat in self._idle:
            self._idle.remove(seat)

    def on_lie(self, seat: Seat, error: ProtocolError) -> None:
        self._counters.kills["protocol"] += 1
        self.on_hang_up(seat)
        job = self._bereave(seat)
        if job is not None:
            self.standings.lose(job.task.script, "protocol", self._loop.time())
            job.fail(lied(job.task, error))
        self._serve()

    def on_death(self, seat: Seat, cause: str) -> None:
        self._counters.kills[reason_of(cause)] += 1
        job = self._bereave(seat)
        if job is not None and not job.future.done():
            self._judge(job, cause)
        self._serve()

    def _bereave(self, seat: Seat) -> _Job | None:
        job = cast("_Job | None", seat.busy)
        if job is not None:
            self._leave(seat, job)
        return job

    def _judge(self, job: _Job, cause: str) -> None:
        """A call changes nothing outside, so one that an outsider killed is simply run again, once."""
        if cause == OUTSIDE and not job.retried and self._crew is not None:
            job.retried = True
            self._counters.retries += 1
            self._enqueue(job, first=True)
            return
        for _ in range(2 if job.retried else 1):
            self.standings.lose(job.task.script, reason_of(cause), self._loop.time())
        job.fail(died(job.task, cause))

    def on_false_start(self, error: InternalError) -> None:
        self._counters.kills["start"] += 1
        if not self._someone_ready.done():
            self._someone_ready.set_exception(error)
        if self._crew is not None and not any(seat.conversation.ready for seat in self._crew.seats):
            for job in list(self._queue):
                self._queue.leave(job)
                job.fail(error)
