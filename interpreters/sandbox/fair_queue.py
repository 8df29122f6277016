"""Calls that no worker has yet: queued for their turn, or for the next worker that starts.

There is one queue a script, and scripts are served in turn. Each call waits no longer than its caller does, and only so
many may wait.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Iterator
from typing import Generic, TypeVar

from interpreters.core.errors import BusyError, InterpError
from interpreters.sandbox.calls import no_worker_in_time
from interpreters.sandbox.pipeline import Job
from interpreters.sandbox.reputation import ConcurrencyLimit, Running

R = TypeVar("R", bound=Running)


class FairQueue(Generic[R]):
    """First in, first out within a script; scripts in turn."""

    def __init__(self) -> None:
        self.length = 0
        self._of_scripts: OrderedDict[str, deque[R]] = OrderedDict()

    def __iter__(self) -> Iterator[R]:
        for queue in self._of_scripts.values():
            yield from queue

    def length_of(self, digest: str) -> int:
        return len(self._of_scripts.get(digest, ()))

    def add(self, job: R, *, first: bool = False) -> None:
        queue = self._of_scripts.setdefault(job.digest, deque())
        (queue.appendleft if first else queue.append)(job)
        self.length += 1

    def discard(self, job: R) -> None:
        queue = self._of_scripts.get(job.digest)
        if queue is not None and job in queue:
            queue.remove(job)
            self.length -= 1
            if not queue:
                del self._of_scripts[job.digest]

    def first(self, concurrency: ConcurrencyLimit, now: float) -> R | None:
        """The next to run: the first call of the first script that the limit admits."""
        for queue in self._of_scripts.values():
            if concurrency.admits(queue[0], now):
                return queue[0]
        return None

    def take(self, job: R) -> None:
        """The first of its script has its turn; the script's next one comes after those of the others."""
        queue = self._of_scripts[job.digest]
        queue.popleft()
        self.length -= 1
        if queue:
            self._of_scripts.move_to_end(job.digest)
        else:
            del self._of_scripts[job.digest]


class PendingCalls:
    """The fair queue of a pool with its bound and deadlines, and the calls that are to run in a new worker.

    `most` calls may come in by themselves; those whose worker was lost always may.
    """

    def __init__(self, most: int) -> None:
        self.queue: FairQueue[Job] = FairQueue()
        self._most = most
        self._loop = asyncio.get_running_loop()
        self._for_new_worker: list[Job] = []
        self._closed = False

    def __len__(self) -> int:
        return self.queue.length + len(self._for_new_worker)

    def admit(self, job: Job) -> None:
        """Raises `BusyError`."""
        if self.queue.length >= self._most:
            raise BusyError(f"{self._most} calls are waiting for a worker already")
        trusted = job.reputation.has_replied and job.reputation.suspect_until < self._loop.time()
        if not trusted and self.queue.length_of(job.digest) >= max(1, self._most // 2):
            raise BusyError(f"{self._most // 2} calls of {job.task.script.name} are waiting for a worker already")
        self.add(job)

    def add(self, job: Job, *, first: bool = False) -> None:
        if self._may_wait(job):
            self.queue.add(job, first=first)

    def add_for_new_worker(self, job: Job) -> None:
        """To be run by the next worker that becomes ready. One is starting: this call's own has just been lost."""
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
        self.queue.discard(job)
        if job in self._for_new_worker:
            self._for_new_worker.remove(job)
        if job.timer:
            job.timer.cancel()

    def take(self, job: Job) -> None:
        """It has its turn."""
        self.queue.take(job)
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
        for job in [*self.queue, *self._for_new_worker]:
            self.discard(job)
            job.fail(error)

    def close(self) -> None:
        self._closed = True
        self.fail_all(closing())


def closing() -> BusyError:
    return BusyError("the sandbox is closing")
