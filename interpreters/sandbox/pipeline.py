"""The calls that one worker has been sent: the one it runs, and those pipelined behind it.

Sending a call to a sleeping worker and being woken by its answer costs more than a short call itself. So calls of
scripts that answer fast are sent ahead of their turn. A pipelined call has not begun: its time does not run, and it is
not blamed if the worker ends. If the call in front takes long, those behind it are taken back to be run elsewhere; the
worker's answers to them are then dropped.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator

from interpreters.core.engine import Outcome
from interpreters.core.errors import InterpError
from interpreters.sandbox.calls import Task
from interpreters.sandbox.reputation import digest_of

DEPTH = 8
"""Calls of one worker at most, the running one included."""

STALLED = 0.03
"""Seconds the running call may take before those behind it are taken back."""

SLACK = 0.25
"""Seconds a pipelined call must have to spare: its turn may come after a stall of each call before it."""

SMALL = 64 * 1024
"""Bytes of arguments that may be pipelined. Larger ones take longer than being woken, and would fill the socket."""


class Job:
    """A call that somebody awaits. `fast`: it may be pipelined behind others, and others behind it. `fresh`: it failed
    in a worker that others had used, and is tried again in a new one. `kill_after` so many seconds."""

    __slots__ = ("digest", "fast", "fresh", "future", "kill_after", "retried", "seconds", "suspect", "task", "timer")

    def __init__(self, task: Task, future: asyncio.Future[Outcome | frozenset[str]]) -> None:
        self.task = task
        self.digest = digest_of(task.script)
        self.future = future
        self.fast = False
        self.suspect = False
        self.fresh = False
        self.retried = False
        self.seconds = 0.0
        self.kill_after = 0.0
        self.timer: asyncio.TimerHandle | None = None

    def fail(self, error: InterpError) -> None:
        if not self.future.done():
            self.future.set_exception(error)

    def placeholder(self) -> Job:
        """The same call, awaited by nobody."""
        nobody: asyncio.Future[Outcome | frozenset[str]] = self.future.get_loop().create_future()
        nobody.cancel()
        return Job(self.task, nobody)


class Pipeline:
    """First in, first out: the worker answers in this order.

    `began` is when the running call did; `abandoned_since`, when the worker turned to calls that nobody awaits.
    """

    __slots__ = ("_jobs", "abandoned_since", "began")

    def __init__(self) -> None:
        self._jobs: deque[Job] = deque()
        self.began = 0.0
        self.abandoned_since: float | None = None

    def __len__(self) -> int:
        return len(self._jobs)

    def __iter__(self) -> Iterator[Job]:
        return iter(self._jobs)

    @property
    def running(self) -> Job | None:
        return self._jobs[0] if self._jobs else None

    def has_room(self, now: float) -> bool:
        """Whether a call may be pipelined behind the running one."""
        return 0 < len(self._jobs) < DEPTH and self._jobs[0].fast and now < self.began + STALLED

    def put(self, job: Job) -> None:
        self._jobs.append(job)

    def begin(self, now: float) -> Job:
        """The first is what the worker runs from now on."""
        job = self._jobs[0]
        self.began = now
        if not job.future.done():
            self.abandoned_since = None
        elif self.abandoned_since is None:
            self.abandoned_since = now
        return job

    def finish(self) -> Job:
        """The running call is over."""
        return self._jobs.popleft()

    def take_back(self) -> list[Job]:
        """The pipelined calls, to be run elsewhere. The worker answers them all the same, so placeholders stay."""
        pipelined = list(self._jobs)[1:]
        for place, job in enumerate(pipelined, 1):
            self._jobs[place] = job.placeholder()
        return pipelined
