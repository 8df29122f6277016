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
from interpreters.sandbox.standing import Standings
from interpreters.sandbox.stats import Counters, SandboxStats
from interpreters.sandbox.tray import SLACK, SMALL, STALLED, Job
from interpreters.sandbox.waiting import FairQueue, Turnstile

ABANDONED = 0.05
"""Seconds a worker may go on with a call nobody waits for any more: most are done before a new worker would be up."""


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
        self._queue: FairQueue[Job] = FairQueue()
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
        for job in [*self._queue, *(job for seat in crew.seats for job in seat.tray)]:
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
        busy = sum(len(seat.tray) > 0 for seat in seats)
        laid = sum(len(seat.tray) for seat in seats) - busy
        return self._counters.snapshot(
            self.standings.sentences(self._loop.time()) if seats else (),
            size=self.size,
            ready=ready,
            starting=len(seats) - ready,
            busy=busy,
            waiting=len(self._queue) + laid,
        )

    async def _submit(self, task: Task) -> Outcome | frozenset[str]:
        if self._crew is None:
            raise BusyError("the sandbox is closed")
        check_input(task)
        now = self._loop.time()
        self.standings.check(task, now)
        job = Job(task, self._loop.create_future())
        self._counters.calls += 1
        if not self._queue and self._turnstile.admits(job.digest, now) and (seat := self._seat_for(job, now)):
            self._hand(seat, job, now)
        else:
            self._wait(job)
        try:
            return await job.future
        except asyncio.CancelledError:
            self._abandon(job)
            raise

    def _wait(self, job: Job) -> None:
        if len(self._queue) >= self.max_waiting:
            raise BusyError(f"{self.max_waiting} calls are waiting for a worker already")
        trusted = self.standings.proven(job.digest) and not self.standings.suspect(job.digest, self._loop.time())
        if not trusted and self._queue.length_of(job.digest) >= max(1, self.max_waiting // 2):
            raise BusyError(f"{self.max_waiting // 2} calls of {job.task.script.name} are waiting for a worker already")
        self._enqueue(job)
        self._serve()

    def _enqueue(self, job: Job, *, first: bool = False) -> None:
        if job.task.deadline is not None:
            job.timer = self._loop.call_at(job.task.deadline, self._waited_too_long, job)
        self._queue.join(job, first=first)

    def _waited_too_long(self, job: Job) -> None:
        self._queue.leave(job)
        job.fail(too_late())

    def _serve(self) -> None:
        """Find workers for those whose turn it is."""
        now = self._loop.time()
        while (job := self._queue.first(self._turnstile, now)) and (seat := self._seat_for(job, now)):
            self._queue.take(job)
            if job.timer:
                job.timer.cancel()
            try:
                self.standings.check(job.task, now)
            except InterpError as error:
                job.fail(error)
                self._not_taken(seat)
            else:
                self._hand(seat, job, now)

    def _seat_for(self, job: Job, now: float) -> Seat | None:
        """A worker with nothing to do; else the least loaded of those that the call may lie ready with.

        Who may not lie ready stays first in the queue and nothing is laid past it, so its worker is soon free.
        """
        job.brisk = self._is_brisk(job, now)
        if self._idle:
            return self._idle.pop()
        if not job.brisk or self._crew is None:
            return None
        having_room = [
            seat for seat in self._crew.seats
            if seat.tray.has_room(now) and not seat.retiring and seat.unsent is None
        ]  # fmt: skip
        return min(having_room, key=lambda seat: len(seat.tray), default=None)

    def _is_brisk(self, job: Job, now: float) -> bool:
        task = job.task
        unhurried = task.deadline is None or task.deadline - now > task.limits.seconds + SLACK
        usual = task.limits == self.limits and sum(map(len, task.arguments)) <= SMALL
        return unhurried and usual and self.standings.brisk(job.digest, now)

    def _hand(self, seat: Seat, job: Job, now: float) -> None:
        job.seconds = job.task.seconds(now)
        try:
            if job.seconds <= 0:
                raise too_late()
            frame = seat.conversation.call(job.task, job.seconds)
        except InterpError as error:
            job.fail(error)
            self._not_taken(seat)
            return
        seat.tray.put(job)
        if len(seat.tray) == 1:
            self._begin(seat, job, now)
        elif self.size > 1:
            seat.look_at(seat.tray.began + STALLED, self._look_after)
        if self._crew is not None:
            self._crew.send(seat, memoryview(frame))

    def _not_taken(self, seat: Seat) -> None:
        if not seat.tray:
            self._idle.append(seat)

    def _begin(self, seat: Seat, job: Job, now: float) -> None:
        """The first on the tray is what the worker runs from now on."""
        self._turnstile.enter(job, now)
        seat.tray.began = now
        bad_and_alone = job.future.done() and self.standings.suspect(job.digest, now)
        seat.due = now + (ABANDONED if bad_and_alone else patience(job.seconds))
        seat.look_at(seat.due, self._look_after)

    def _look_after(self, seat: Seat) -> None:
        """A call that is overdue is killed; what lies ready behind one that takes long is run elsewhere."""
        if not seat.tray:
            return
        now = self._loop.time()
        if now >= seat.due:
            self._expire(seat)
            return
        stalls = seat.tray.began + STALLED
        if now < stalls and len(seat.tray) > 1:
            seat.look_at(stalls, self._look_after)
            return
        seat.look_at(seat.due, self._look_after)
        if self.size > 1 and len(seat.tray) > 1:
            self._take_back(seat)
            self._serve()

    def _take_back(self, seat: Seat) -> None:
        for job in reversed(seat.tray.take_back()):
            if not job.future.done():
                self._enqueue(job, first=True)

    def _abandon(self, job: Job) -> None:
        self._queue.leave(job)
        if job.timer:
            job.timer.cancel()
        soon = self._loop.time() + ABANDONED
        for seat in self._crew.seats if self._crew else ():
            if seat.tray.running is job and seat.due > soon:
                seat.due = soon
                seat.look_at(soon, self._look_after)

    def _expire(self, seat: Seat) -> None:
        self._take_back(seat)
        job = self._finish(seat)
        if self._crew is not None:
            self._crew.remove(seat)
            self._crew.replenish()
        if job.future.cancelled():
            self._counters.kills["cancelled"] += 1
        else:
            self._counters.kills["time"] += 1
            if job.task.unhurried(job.seconds):
                self.standings.lose(job.task, "time", self._loop.time())
            job.fail(overdue(job.task, job.seconds))
        self._serve()

    def _finish(self, seat: Seat) -> Job:
        """The running call is over, one way or another."""
        job = seat.tray.finish()
        self._turnstile.leave(job)
        return job

    def on_ready(self, seat: Seat) -> None:
        self._hardening = seat.conversation.hardening
        if not self._someone_ready.done():
            self._someone_ready.set_result(None)
        self._rest(seat)
        for old in [idle for idle in self._idle if idle.retiring]:
            self._idle.remove(old)
            self._rest(old)

    def on_reply(self, seat: Seat, reply: Reply) -> None:
        job = seat.tray.running
        if job is None:
            raise ProtocolError("a reply to nothing")
        result, spent = settle(job.task, reply, job.seconds)
        if spoils(result):
            self._take_back(seat)
        self._finish(seat)
        if isinstance(result, InterpError):
            job.fail(result)
        elif not job.future.done():
            job.future.set_result(result)
        if spoils(result) or (ran_out_of_time(result) and job.task.unhurried(job.seconds)):
            self.standings.strike(job.digest, self._loop.time())
        else:
            self.standings.prove(job.digest, result.seconds if isinstance(result, Outcome) else None)
        if spoils(result) and self._crew is not None:
            self._counters.kills[MEMORY] += 1
            self._crew.remove(seat)
            self._crew.replenish()
            self._serve()
            return
        if spent and not seat.retiring and self._crew is not None:
            seat.retiring = True
            self._crew.replenish()
        if (following := seat.tray.running) is not None:
            self._begin(seat, following, self._loop.time())
            if self._queue:
                self._serve()
        else:
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
        self._vacate(seat)
        self._serve()

    def _vacate(self, seat: Seat) -> None:
        if seat in self._idle:
            self._idle.remove(seat)
        self._take_back(seat)

    def on_lie(self, seat: Seat, error: ProtocolError) -> None:
        self._counters.kills["protocol"] += 1
        self._vacate(seat)
        job = self._bereave(seat)
        if job is not None:
            self.standings.lose(job.task, "protocol", self._loop.time())
            job.fail(lied(job.task, error))
        self._serve()

    def on_death(self, seat: Seat, cause: str) -> None:
        self._counters.kills[reason_of(cause)] += 1
        job = self._bereave(seat)
        if job is not None and not job.future.done():
            self._judge(job, cause)
        self._serve()

    def _bereave(self, seat: Seat) -> Job | None:
        return self._finish(seat) if seat.tray else None

    def _judge(self, job: Job, cause: str) -> None:
        """A call changes nothing outside, so one that an outsider killed is simply run again, once."""
        if cause == OUTSIDE and not job.retried and self._crew is not None:
            job.retried = True
            self._counters.retries += 1
            self._enqueue(job, first=True)
            return
        for _ in range(2 if job.retried else 1):
            self.standings.lose(job.task, reason_of(cause), self._loop.time())
        job.fail(died(job.task, cause))

    def on_false_start(self, error: InternalError) -> None:
        self._counters.kills["start"] += 1
        if not self._someone_ready.done():
            self._someone_ready.set_exception(error)
        if self._crew is not None and not any(seat.conversation.ready for seat in self._crew.seats):
            for job in list(self._queue):
                self._queue.leave(job)
                job.fail(error)
