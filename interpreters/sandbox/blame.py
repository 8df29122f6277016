"""What becomes of a call when it is over, and of one whose worker is lost: told, run again, or held against its script.

Blame needs proof: a loss counts by what happened to the worker, never by the words of an error, and what happened in a
worker that others had used is tried in a fresh one first. A call changes nothing outside, so it may be run again.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto

from interpreters.core.engine import Outcome
from interpreters.core.errors import InterpError, LimitError
from interpreters.sandbox.calls import died, lied, overdue, ran_out_of_memory, ran_out_of_time, reason_of
from interpreters.sandbox.messages import ProtocolError
from interpreters.sandbox.process import MEMORY, OUTSIDE
from interpreters.sandbox.standing import Standings
from interpreters.sandbox.stats import Counters
from interpreters.sandbox.tray import Job


class Next(Enum):
    """What is to be done with a call whose worker is lost."""

    NOTHING = auto()
    AGAIN = auto()
    IN_A_FRESH_WORKER = auto()


class Blame:
    """Enters in the books what calls did, and tells their callers. `clock` is the event loop's."""

    def __init__(self, standings: Standings, counters: Counters, clock: Callable[[], float]) -> None:
        self._standings = standings
        self._counters = counters
        self._clock = clock

    def reply(self, job: Job, result: Outcome | frozenset[str] | InterpError) -> None:
        """It came back and its worker goes on."""
        _tell(job, result)
        self._enter(job, result)

    def heavy_reply(self, job: Job, result: Outcome | frozenset[str] | InterpError, *, used: bool) -> Next:
        """It came back, and its worker held so much memory that it had to be replaced."""
        self._counters.kills[MEMORY] += 1
        if ran_out_of_memory(result) and used and not job.future.done():
            return Next.IN_A_FRESH_WORKER
        _tell(job, result)
        if isinstance(result, LimitError):
            self._standings.lose(job.task, MEMORY, self._clock())
        else:
            self._standings.spend(job.task, self._clock())
            self._enter(job, result)
        return Next.NOTHING

    def overdue(self, job: Job) -> None:
        """It did not come back in time and its worker was killed."""
        if job.future.cancelled():
            self._counters.kills["cancelled"] += 1
            return
        self._counters.kills["time"] += 1
        if job.task.unhurried(job.seconds):
            self._standings.lose(job.task, "time", self._clock())
        job.fail(overdue(job.task, job.seconds))

    def lie(self, job: Job | None, error: ProtocolError, *, used: bool) -> Next:
        """Its worker sent what is no reply and was killed."""
        self._counters.kills["protocol"] += 1
        if job is None or job.future.done():
            return Next.NOTHING
        if used and not job.fresh:
            return Next.IN_A_FRESH_WORKER
        self._standings.lose(job.task, "protocol", self._clock())
        job.fail(lied(job.task, error))
        return Next.NOTHING

    def death(self, job: Job | None, cause: str, *, used: bool) -> Next:
        """Its worker ended. It is run again once if an outsider killed it, and once in a fresh worker if earlier calls
        may have left behind what the worker died of."""
        self._counters.kills[reason_of(cause)] += 1
        if job is None or job.future.done():
            return Next.NOTHING
        if cause == OUTSIDE and not job.retried:
            job.retried = True
            return Next.AGAIN
        if cause != OUTSIDE and used and not job.fresh:
            return Next.IN_A_FRESH_WORKER
        for _ in range(2 if job.retried else 1):
            self._standings.lose(job.task, reason_of(cause), self._clock())
        job.fail(died(job.task, cause))
        return Next.NOTHING

    def _enter(self, job: Job, result: Outcome | frozenset[str] | InterpError) -> None:
        if ran_out_of_memory(result) or (ran_out_of_time(result) and job.task.unhurried(job.seconds)):
            self._standings.strike(job.digest, self._clock())
        else:
            self._standings.prove(job.digest, result.seconds if isinstance(result, Outcome) else None)


def _tell(job: Job, result: Outcome | frozenset[str] | InterpError) -> None:
    if isinstance(result, InterpError):
        job.fail(result)
    elif not job.future.done():
        job.future.set_result(result)
