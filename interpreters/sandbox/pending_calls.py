"""Calls that no worker has yet: queued for their turn, or for the next worker that starts. Each waits no longer than
its caller does, and only so many may wait.
"""

from __future__ import annotations

import asyncio

from interpreters.core.errors import BusyError, InterpError
from interpreters.sandbox.calls import no_worker_in_time
from interpreters.sandbox.fair_queue import ConcurrencyLimit, FairQueue
from interpreters.sandbox.pipeline import Job
from interpreters.sandbox.reputation import Reputations


class PendingCalls:
    """`most` calls may come in by themselves; those whose worker was lost always may."""

    def __init__(self, most: int, reputations: Reputations) -> None:
        self._most = most
        self._reputations = reputations
        self._loop = asyncio.get_running_loop()
        self._queue: FairQueue[Job] = FairQueue()
        self._for_new_worker: list[Job] = []
        self._closed = False

    def __len__(self) -> int:
        return len(self._queue) + len(self._for_new_worker)

    @property
    def any_queued(self) -> bool:
        """Whether any call waits for its turn."""
        return len(self._queue) > 0

    def admit(self, job: Job) -> None:
        """Raises `BusyError`."""
        if len(self._queue) >= self._most:
            raise BusyError(f"{self._most} calls are waiting for a worker already")
        trusted = self._reputations.has_replied(job.digest) and not self._reputations.is_suspect(
            job.digest, self._loop.time()
        )
        if not trusted and self._queue.length_of(job.digest) >= max(1, self._most // 2):
            raise BusyError(f"{self._most // 2} calls of {job.task.script.name} are waiting for a worker already")
        self.add(job)

    def add(self, job: Job, *, first: bool = False) -> None:
        if self._may_wait(job):
            self._queue.add(job, first=first)

    def add_for_new_worker(self, job: Job) -> None:
        """To be run by the next worker that comes up. One is starting: this call's own has just been lost."""
        job.fresh = True
        if self._may_wait(job):
            self._for_new_worker.append(job)

    def _may_wait(self, job: Job) -> bool:
        if self._closed:
            job.fail(closing())
            return False
        if job.task.deadline is not None:
            job.timer = self._loop.call_at(job.task.deadline, self._waited_too_long, job)
        return True

    def _waited_too_long(self, job: Job) -> None:
        self.discard(job)
        job.fail(no_worker_in_time())

    def discard(self, job: Job) -> None:
        """It waits no longer, if it did."""
        self._queue.discard(job)
        if job in self._for_new_worker:
            self._for_new_worker.remove(job)
        if job.timer:
            job.timer.cancel()

    def first(self, concurrency: ConcurrencyLimit, now: float) -> Job | None:
        """The next to run."""
        return self._queue.first(concurrency, now)

    def take(self, job: Job) -> None:
        """It has its turn."""
        self._queue.take(job)
        if job.timer:
            job.timer.cancel()

    def take_for_new_worker(self) -> Job | None:
        """A call for a worker that has just become ready."""
        if not self._for_new_worker:
            return None
        job = self._for_new_worker[0]
        self.discard(job)
        return job

    def fail_all(self, error: InterpError) -> None:
        for job in [*self._queue, *self._for_new_worker]:
            self.discard(job)
            job.fail(error)

    def close(self) -> None:
        self._closed = True
        self.fail_all(closing())


def closing() -> BusyError:
    return BusyError("the sandbox is closing")
