"""Who runs next and where: the pool's decisions, one event at a time.

Calls wait in a fair queue, are handed to workers that are idle, or lie ready behind what a worker runs. The crew tells
what the workers say and die of; what then becomes of a call is decided in blame.py.
"""

from __future__ import annotations

import asyncio

from interpreters.core.engine import Limits
from interpreters.core.errors import InternalError, InterpError
from interpreters.sandbox.blame import Blame, Next
from interpreters.sandbox.calls import settle, too_late
from interpreters.sandbox.crew import Crew, Seat
from interpreters.sandbox.messages import ProtocolError, Ready, Reply
from interpreters.sandbox.standing import Standings
from interpreters.sandbox.stats import Counters
from interpreters.sandbox.tray import SLACK, SMALL, STALLED, Job
from interpreters.sandbox.waiting import Turnstile
from interpreters.sandbox.waiting_room import WaitingRoom, closing

ABANDONED = 0.05
"""Seconds a worker may go on with a call nobody waits for any more: most are done before a new worker would be up."""


class Dispatch:
    """One for the life of a pool's workers. `crew` is set before the first event."""

    crew: Crew

    def __init__(self, size: int, limits: Limits, max_waiting: int, standings: Standings, counters: Counters) -> None:
        self.size = size
        self.limits = limits
        self.standings = standings
        self.hardening: dict[str, str] = {}
        self._counters = counters
        self._loop = asyncio.get_running_loop()
        self.someone_ready: asyncio.Future[None] = self._loop.create_future()
        self._blame = Blame(standings, counters, self._loop.time)
        self._turnstile = Turnstile(size, standings)
        self._waiting = WaitingRoom(max_waiting, standings)
        self._idle: list[Seat] = []

    @property
    def waiting(self) -> int:
        """Calls that no worker has begun."""
        return len(self._waiting) + sum(max(0, len(seat.tray) - 1) for seat in self.crew.seats)

    async def close(self) -> None:
        if not self.someone_ready.done():
            self.someone_ready.set_exception(closing())
        self._waiting.close()
        for job in [job for seat in self.crew.seats for job in seat.tray]:
            job.fail(closing())
        self._idle.clear()
        await self.crew.close()

    def submit(self, job: Job) -> None:
        """Have it run, now or when its turn comes. Raises `BusyError`."""
        now = self._loop.time()
        in_line = self._waiting.in_line
        if not in_line and self._turnstile.admits(job.digest, now) and (seat := self._seat_for(job, now)):
            self._hand(seat, job, now)
        else:
            self._waiting.admit(job)
            self._serve()

    def _serve(self) -> None:
        """Find workers for those whose turn it is."""
        now = self._loop.time()
        while (job := self._waiting.first(self._turnstile, now)) and (seat := self._seat_for(job, now)):
            self._waiting.take(job)
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
            job.patience = seat.conversation.patience(job.task, job.seconds, now)
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
                self._waiting.join(job, first=True)

    def abandon(self, job: Job) -> None:
        """Its caller is gone."""
        self._waiting.leave(job)
        soon = self._loop.time() + ABANDONED
        for seat in self.crew.seats:
            if seat.tray.running is job and seat.due > soon:
                seat.due = soon
                seat.look_at(soon, self._look_after)

    def _expire(self, seat: Seat) -> None:
        self._take_back(seat)
        job = self._finish(seat)
        self._replace(seat)
        self._blame.overdue(job)
        self._serve()

    def _replace(self, seat: Seat) -> None:
        self.crew.remove(seat)
        self.crew.replenish()

    def _finish(self, seat: Seat) -> Job:
        """The running call is over, one way or another."""
        job = seat.tray.finish()
        self._turnstile.leave(job)
        return job

    def on_ready(self, seat: Seat) -> None:
        self.hardening = seat.conversation.hardening
        if not self.someone_ready.done():
            self.someone_ready.set_result(None)
        if job := self._waiting.take_fresh():
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
        used = seat.conversation.answered > 0
        seat.conversation.answered += 1
        if reply.heavy:
            self._take_back(seat)
            self._finish(seat)
            self._replace(seat)
            self._go_on(job, self._blame.heavy_reply(job, result, used=used))
            return
        self._finish(seat)
        self._blame.reply(job, result)
        if seat.conversation.spent and not seat.retiring:
            seat.retiring = True
            self.crew.replenish()
        if seat.tray:
            self._begin(seat, self._loop.time())
            if self._waiting.in_line:
                self._serve()
        else:
            self._rest(seat)

    def _go_on(self, job: Job | None, what: Next) -> None:
        """With a call whose worker is lost, and then with those who wait."""
        if job is not None and what is not Next.NOTHING:
            self._counters.retries += 1
            if what is Next.AGAIN:
                self._waiting.join(job, first=True)
            else:
                self._waiting.want_fresh(job)
        self._serve()

    def _rest(self, seat: Seat) -> None:
        """A worker has nothing to do: it retires if its successor is there, else it serves whoever waits."""
        if seat.retiring and self.crew.replaced():
            self._counters.recycled += 1
            self.crew.remove(seat)
        else:
            self._idle.append(seat)
        if self._waiting.in_line:
            self._serve()

    def on_hang_up(self, seat: Seat) -> None:
        self._vacate(seat)
        self._serve()

    def _vacate(self, seat: Seat) -> None:
        if seat in self._idle:
            self._idle.remove(seat)
        self._take_back(seat)

    def on_lie(self, seat: Seat, error: ProtocolError) -> None:
        self._vacate(seat)
        job = self._bereave(seat)
        self._go_on(job, self._blame.lie(job, error, used=seat.conversation.answered > 0))

    def on_death(self, seat: Seat, cause: str) -> None:
        job = self._bereave(seat)
        self._go_on(job, self._blame.death(job, cause, used=seat.conversation.answered > 0))

    def _bereave(self, seat: Seat) -> Job | None:
        return self._finish(seat) if seat.tray else None

    def on_false_start(self, error: InternalError) -> None:
        self._counters.kills["start"] += 1
        if not self.someone_ready.done():
            self.someone_ready.set_exception(error)
        if not any(seat.conversation.ready for seat in self.crew.seats):
            self._waiting.send_away(error)
