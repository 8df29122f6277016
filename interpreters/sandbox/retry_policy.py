"""What becomes of a call whose worker is lost: it runs again, or the loss is counted against its script.

A loss counts by what happened to the worker, never by the text of an error, and a call that fails in a worker that
others had used is run again in a new one first. A call changes nothing outside, so it may be run again.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto

from interpreters.core.engine import Outcome
from interpreters.core.errors import InterpError, LimitError
from interpreters.sandbox.calls import bad_reply, ran_out_of_memory, reason_of, timed_out, worker_died
from interpreters.sandbox.messages import ProtocolError
from interpreters.sandbox.pipeline import Job
from interpreters.sandbox.process import KILLED_OUTSIDE, MEMORY
from interpreters.sandbox.reputation import Reputations
from interpreters.sandbox.stats import Counters


class Retry(Enum):
    """Whether and where a call whose worker is lost runs again."""

    NONE = auto()
    ANY_WORKER = auto()
    NEW_WORKER = auto()


class RetryPolicy:
    """Notes in the reputation of a script what its call did to a worker. `clock` is the event loop's."""

    def __init__(self, reputations: Reputations, counters: Counters, clock: Callable[[], float]) -> None:
        self._reputations = reputations
        self._counters = counters
        self._clock = clock

    def heavy_reply(self, job: Job, result: Outcome | frozenset[str] | InterpError, *, used: bool) -> Retry:
        """It came back, and its worker held so much memory that it had to be replaced."""
        self._counters.kills[MEMORY] += 1
        if ran_out_of_memory(result) and used and not job.future.done():
            return Retry.NEW_WORKER
        if isinstance(result, LimitError):
            self._reputations.note_loss(job.task, MEMORY, self._clock())
        else:
            self._reputations.charge_worker(job.task, self._clock())
        return Retry.NONE

    def timed_out(self, job: Job) -> None:
        """It did not come back in time and its worker was killed."""
        if job.future.cancelled():
            self._counters.kills["cancelled"] += 1
            return
        self._counters.kills["time"] += 1
        if job.task.has_full_time(job.seconds):
            self._reputations.note_loss(job.task, "time", self._clock())
        job.fail(timed_out(job.task, job.seconds))

    def bad_reply(self, job: Job | None, error: ProtocolError, *, used: bool) -> Retry:
        """Its worker sent what is no reply and was killed."""
        self._counters.kills["protocol"] += 1
        if job is None or job.future.done():
            return Retry.NONE
        if used and not job.fresh:
            return Retry.NEW_WORKER
        self._reputations.note_loss(job.task, "protocol", self._clock())
        job.fail(bad_reply(job.task, error))
        return Retry.NONE

    def worker_died(self, job: Job | None, cause: str, *, used: bool) -> Retry:
        """Its worker ended. The call runs again once if the worker was killed from outside, and once in a new worker
        if earlier calls may have left behind what ended it."""
        self._counters.kills[reason_of(cause)] += 1
        if job is None or job.future.done():
            return Retry.NONE
        if cause == KILLED_OUTSIDE and not job.retried:
            job.retried = True
            return Retry.ANY_WORKER
        if cause != KILLED_OUTSIDE and used and not job.fresh:
            return Retry.NEW_WORKER
        for _ in range(2 if job.retried else 1):
            self._reputations.note_loss(job.task, reason_of(cause), self._clock())
        job.fail(worker_died(job.task, cause))
        return Retry.NONE
