"""Who runs next, where, and what becomes of a call whose worker is lost: the pool's decisions, one event at a time.

Calls wait in a fair queue, are handed to workers that are idle, or lie ready behind what a worker runs. The crew tells
what the workers say and die of.
"""

from __future__ import annotations

import asyncio

from interpreters.core.engine import Limits, Outcome
from interpreters.core.errors import BusyError, InternalError, InterpError, LimitError
from interpreters.sandbox.calls import (
    died,
    lied,
    overdue,
    patience,
    ran_out_of_memory,
    ran_out_of_time,
    reason_of,
    settle,
    too_late,
)
from interpreters.sandbox.crew import Crew, Seat
from interpreters.sandbox.messages import ProtocolError, Ready, Reply
from interpreters.sandbox.process import MEMORY, OUTSIDE
from interpreters.sandbox.standing import Standings
from interpreters.sandbox.stats import Counters
from interpreters.sandbox.tray import SLACK, SMALL, STALLED, Job
from interpreters.sandbox.waiting import FairQueue, Turnstile

ABANDONED = 0.05
"""Seconds a worker may go on with a call nobody waits for any more: most are done before a new worker would be up."""


class Dispatch:
    """One for the life of a pool's workers. `crew` is set before the first event."""

    crew: Crew

    def __init__(self, size: int, limits: Limits, max_waiting: int, standings: Standings, counters: Counters) -> None:
        self.size = size
        self.limits = limits
        self.max_waiting = max_waiting
        self.standings = standings
        self.hardening: dict[str, str] = {}
        self._counters = counters
        self._loop = asyncio.get_running_loop()
        self.someone_ready: asyncio.Future[None] = self._loop.create_future()
        self._turnstile = Turnstile(size, standings)
        self._queue: FairQueue[Job] = FairQueue()
        self._idle: list[Seat] = []
        self._wanting_fresh: list[Job] = []
        self._closed = False

    @property
    def waiting(self) -> int:
        """Calls that no worker has begun."""
        return len(self._queue) + len(self._wanting_fresh) + sum(max(0, len(seat.tray) - 1) for seat in self.crew.seats)

    async def close(self) -> None:
        self._closed = True
        if not self.someone_ready.done():
            self.someone_ready.set_exception(_closing())
        for job in [*self._queue, *self._wanting_fresh, *(job for seat in self.crew.seats for job in seat.tray)]:
            self._leave(job)
            job.fail(_closing())
        self._idle.clear()
        await self.crew.close()

    def submit(self, job: Job) -> None:
        """Have it run, now or when its turn comes. Raises `BusyError`."""
        now = self._loop.time()
        if not self._queue and self._turnstile.admits(job.digest, now) and (seat := self._seat_for(job, now)):
            self._hand(seat, job, now)
        else:
            self._wait(job)

    def _wait(self, job: Job) -> None:
        if len(self._queue) >= self.max_waiting:
            raise BusyError(f"{self.max_waiting} calls are waiting for a worker already")
        trusted = self.standings.proven(job.digest) and not self.standings.suspect(job.digest, self._loop.time())
        if not trusted and self._queue.length_of(job.digest) >= max(1, self.max_waiting // 2):
            raise BusyError(f"{self.max_waiting // 2} calls of {job.task.script.name} are waiting for a worker already")
        self._enqueue(job)
        self._serve()

    def _enqueue(self, job: Job, *, first: bool = False) -> None:
        if self._closed:
            job.fail(_closing())
            return
        if job.task.deadline is not None:
            job.timer = self._loop.call_at(job.task.deadline, self._waited_too_long, job)
        self._queue.join(job, first=first)

    def _waited_too_long(self, job: Job) -> None:
        self._leave(job)
        job.fail(too_late())

    def _leave(self, job: Job) -> None:
        """It waits no longer."""
        self._queue.leave(job)
        if job in self._wanting_fresh:
            self._wanting_fresh.remove(job)
        if job.timer:
            job.timer.cancel()

    def _await_fresh(self, job: Job) -> None:
        """To be run by the next worker that comes up. One is starting: this call's own has just been lost."""
        job.fresh = True
        self._counters.retries += 1
        if self._closed:
            job.fail(_closing())
            return
        if job.task.deadline is not None:
            job.timer = self._loop.call_at(job.task.deadline, self._waited_too_long, job)
        self._wanting_fresh.append(job)

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
        if not job.brisk:
            return None
        having_room = [
            seat for seat in self.crew.seats
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
            job.patience = patience(job.seconds, seat.conversation.loading(job.task))
            frame = seat.conversation.call(job.task, job.seconds)
        except InterpError as error:
            job.fail(error)
            self._not_taken(seat)
            return
        seat.tray.put(job)
        if len(seat.tray) == 1:
            self._begin(seat, now)
        else:
            seat.look_at(seat.tray.began + STALLED, self._look_after)
        self.crew.send(seat, memoryview(frame))

    def _not_taken(self, seat: Seat) -> None:
        if not seat.tray:
            self._idle.append(seat)

    def _begin(self, seat: Seat, now: float) -> None:
        """The worker runs the first on its tray from now on."""
        job = seat.tray.begin(now)
        self._turnstile.enter(job, now)
        alone = seat.tray.alone_since
        seat.due = now + job.patience if alone is None else alone + ABANDONED
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
        if len(seat.tray) > 1 and (running := seat.tray.running):
            self.standings.dawdle(running.digest)
            self._take_back(seat)
            self._serve()

    def _take_back(self, seat: Seat) -> None:
        for job in reversed(seat.tray.take_back()):
            if not job.future.done():
                self._enqueue(job, first=True)

    def abandon(self, job: Job) -> None:
        """Its caller is gone."""
        self._leave(job)
        soon = self._loop.time() + ABANDONED
        for seat in self.crew.seats:
            if seat.tray.running is job and seat.due > soon:
                seat.due = soon
                seat.look_at(soon, self._look_after)

    def _expire(self, seat: Seat) -> None:
        self._take_back(seat)
        job = self._finish(seat)
        self.crew.remove(seat)
        self.crew.replenish()
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
        self.hardening = seat.conversation.hardening
        if not self.someone_ready.done():
            self.someone_ready.set_result(None)
        if self._wanting_fresh:
            job = self._wanting_fresh[0]
            self._leave(job)
            job.brisk = False
            self._hand(seat, job, self._loop.time())
        else:
            self._rest(seat)
        for old in [idle for idle in self._idle if idle.retiring]:
            self._idle.remove(old)
            self._rest(old)

    def on_reply(self, seat: Seat, reply: Reply) -> None:
        job = seat.tray.running
        if job is None:
            raise ProtocolError("a reply to nothing")
        if isinstance(reply, Ready):
            raise ProtocolError("a reply to something else")
        result = settle(job.task, reply, job.seconds)
        is_first = not seat.conversation.answered
        seat.conversation.answered += 1
        if reply.heavy:
            self._take_back(seat)
            self._finish(seat)
            self._retire_heavy(seat)
            if ran_out_of_memory(result) and not is_first and not job.future.done():
                self._await_fresh(job)
            else:
                self._conclude(job, result, lost_worker=True)
            self._serve()
            return
        self._finish(seat)
        self._conclude(job, result, lost_worker=False)
        if reply.spent and not seat.retiring:
            seat.retiring = True
            self.crew.replenish()
        if seat.tray:
            self._begin(seat, self._loop.time())
            if self._queue:
                self._serve()
        else:
            self._rest(seat)

    def _retire_heavy(self, seat: Seat) -> None:
        self._counters.kills[MEMORY] += 1
        self.crew.remove(seat)
        self.crew.replenish()

    def _conclude(self, job: Job, result: Outcome | frozenset[str] | InterpError, *, lost_worker: bool) -> None:
        """Tell the caller, and enter it in the books: by what became of the worker, not by what was said."""
        now = self._loop.time()
        if isinstance(result, InterpError):
            job.fail(result)
        elif not job.future.done():
            job.future.set_result(result)
        if lost_worker and isinstance(result, LimitError):
            self.standings.lose(job.task, MEMORY, now)
            return
        if lost_worker:
            self.standings.spend(job.digest, now)
        if ran_out_of_memory(result) or (ran_out_of_time(result) and job.task.unhurried(job.seconds)):
            self.standings.strike(job.digest, now)
        else:
            self.standings.prove(job.digest, result.seconds if isinstance(result, Outcome) else None)

    def _rest(self, seat: Seat) -> None:
        """A worker has nothing to do: it retires if its successor is there, else it serves whoever waits."""
        if seat.retiring and self.crew.replaced():
            self._counters.recycled += 1
            self.crew.remove(seat)
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
        if job is not None and not job.future.done():
            if seat.conversation.answered and not job.fresh:
                self._await_fresh(job)
            else:
                self.standings.lose(job.task, "protocol", self._loop.time())
                job.fail(lied(job.task, error))
        self._serve()

    def on_death(self, seat: Seat, cause: str) -> None:
        self._counters.kills[reason_of(cause)] += 1
        job = self._bereave(seat)
        if job is not None and not job.future.done():
            self._judge(job, cause, used=seat.conversation.answered > 0)
        self._serve()

    def _bereave(self, seat: Seat) -> Job | None:
        return self._finish(seat) if seat.tray else None

    def _judge(self, job: Job, cause: str, *, used: bool) -> None:
        """A call changes nothing outside, so it may be run again: once if an outsider killed its worker, and once in a
        fresh worker if earlier calls may have left behind what the worker died of."""
        if cause == OUTSIDE and not job.retried:
            job.retried = True
            self._counters.retries += 1
            self._enqueue(job, first=True)
            return
        if cause != OUTSIDE and used and not job.fresh:
            self._await_fresh(job)
            return
        for _ in range(2 if job.retried else 1):
            self.standings.lose(job.task, reason_of(cause), self._loop.time())
        job.fail(died(job.task, cause))

    def on_false_start(self, error: InternalError) -> None:
        self._counters.kills["start"] += 1
        if not self.someone_ready.done():
            self.someone_ready.set_exception(error)
        if not any(seat.conversation.ready for seat in self.crew.seats):
            for job in [*self._queue, *self._wanting_fresh]:
                self._leave(job)
                job.fail(error)


def _closing() -> BusyError:
    return BusyError("the sandbox is closing")
