"""Calls that no worker has yet: in line for their turn, or for the next worker that starts. Each waits no longer than
its caller does, and only so many may wait.
"""

from __future__ import annotations

import asyncio

from interpreters.core.errors import BusyError, InterpError
from interpreters.sandbox.calls import too_late
from interpreters.sandbox.standing import Standings
from interpreters.sandbox.tray import Job
from interpreters.sandbox.waiting import FairQueue, Turnstile


class WaitingRoom:
    """`most` calls may come in by themselves; those whose worker was lost always may."""

    def __init__(self, most: int, standings: Standings) -> None:
        self._most = most
        self._standings = standings
        self._loop = asyncio.get_running_loop()
        self._queue: FairQueue[Job] = FairQueue()
        self._wanting_fresh: list[Job] = []
        self._closed = False

    def __len__(self) -> int:
        return len(self._queue) + len(self._wanting_fresh)

    @property
    def in_line(self) -> bool:
        """Whether anybody waits for a turn."""
        return len(self._queue) > 0

    def admit(self, job: Job) -> None:
        """Raises `BusyError`."""
        if len(self._queue) >= self._most:
            raise BusyError(f"{self._most} calls are waiting for a worker already")
        trusted = self._standings.proven(job.digest) and not self._standings.suspect(job.digest, self._loop.time())
        if not trusted and self._queue.length_of(job.digest) >= max(1, self._most // 2):
            raise BusyError(f"{self._most // 2} calls of {job.task.script.name} are waiting for a worker already")
        self.join(job)

    def join(self, job: Job, *, first: bool = False) -> None:
        if self._stays(job):
            self._queue.join(job, first=first)

    def want_fresh(self, job: Job) -> None:
        """To be run by the next worker that comes up. One is starting: this call's own has just been lost."""
        job.fresh = True
        if self._stays(job):
            self._wanting_fresh.append(job)

    def _stays(self, job: Job) -> bool:
        if self._closed:
            job.fail(closing())
            return False
        if job.task.deadline is not None:
            job.timer = self._loop.call_at(job.task.deadline, self._waited_too_long, job)
        return True

    def _waited_too_long(self, job: Job) -> None:
        self.leave(job)
        job.fail(too_late())

    def leave(self, job: Job) -> None:
        """It waits no longer, if it did."""
        self._queue.leave(job)
        if job in self._wanting_fresh:
            self._wanting_fresh.remove(job)
        if job.timer:
            job.timer.cancel()

    def first(self, turnstile: Turnstile, now: float) -> Job | None:
        """Whose turn it is."""
        return self._queue.first(turnstile, now)

    def take(self, job: Job) -> None:
        """It has its turn."""
        self._queue.take(job)
        if job.timer:
            job.timer.cancel()

    def take_fresh(self) -> Job | None:
        """Who is to be run by a worker that has just come up."""
        if not self._wanting_fresh:
            return None
        job = self._wanting_fresh[0]
        self.leave(job)
        return job

    def send_away(self, error: InterpError) -> None:
        for job in [*self._queue, *self._wanting_fresh]:
            self.leave(job)
            job.fail(error)

    def close(self) -> None:
        self._closed = True
        self.send_away(closing())


def closing() -> BusyError:
    return BusyError("the sandbox is closing")
