"""What one worker has in hand: the call it runs, and calls laid ready behind it.

Sending a call to a sleeping worker and being woken by its answer costs more than a short call itself. So calls of
scripts that answer at once are handed over ahead of their turn. What lies ready has not begun: its time does not run
and the worker's death is not its fault. If the call in front takes long, those behind it are taken back to be run
elsewhere; what the worker then makes of them is nobody's answer.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator

from interpreters.core.engine import Outcome
from interpreters.core.errors import InterpError
from interpreters.sandbox.calls import Task
from interpreters.sandbox.standing import digest_of

DEPTH = 8
"""Calls in hand at most, the running one included."""

STALLED = 0.03
"""Seconds the running call may take before those behind it are taken back."""

SLACK = 0.25
"""Seconds a call that lies ready must have to spare: its turn may come after a stall of each call before it."""

SMALL = 64 * 1024
"""Bytes of arguments that may lie ready. Larger ones take longer than being woken, and would fill the socket."""


class Job:
    """A call that somebody awaits. `brisk`: it may lie ready behind others, and others behind it. `fresh`: it failed in
    a worker that others had used, and is tried again in a new one. `seconds` it has, `patience` its worker."""

    __slots__ = ("brisk", "digest", "doubtful", "fresh", "future", "patience", "retried", "seconds", "task", "timer")

    def __init__(self, task: Task, future: asyncio.Future[Outcome | frozenset[str]]) -> None:
        self.task = task
        self.digest = digest_of(task.script)
        self.future = future
        self.brisk = False
        self.doubtful = False
        self.fresh = False
        self.retried = False
        self.seconds = 0.0
        self.patience = 0.0
        self.timer: asyncio.TimerHandle | None = None

    def fail(self, error: InterpError) -> None:
        if not self.future.done():
            self.future.set_exception(error)

    def ghost(self) -> Job:
        """The same call, awaited by nobody."""
        nobody: asyncio.Future[Outcome | frozenset[str]] = self.future.get_loop().create_future()
        nobody.cancel()
        return Job(self.task, nobody)


class Tray:
    """First in, first out: the worker answers in this order.

    `began` is when the running call did; `alone_since`, when the worker turned to calls that nobody awaits.
    """

    __slots__ = ("_jobs", "alone_since", "began")

    def __init__(self) -> None:
        self._jobs: deque[Job] = deque()
        self.began = 0.0
        self.alone_since: float | None = None

    def __len__(self) -> int:
        return len(self._jobs)

    def __iter__(self) -> Iterator[Job]:
        return iter(self._jobs)

    @property
    def running(self) -> Job | None:
        return self._jobs[0] if self._jobs else None

    def has_room(self, now: float) -> bool:
        """Whether a call may be laid behind the running one."""
        return 0 < len(self._jobs) < DEPTH and self._jobs[0].brisk and now < self.began + STALLED

    def put(self, job: Job) -> None:
        self._jobs.append(job)

    def begin(self, now: float) -> Job:
        """The first is what the worker runs from now on."""
        job = self._jobs[0]
        self.began = now
        if not job.future.done():
            self.alone_since = None
        elif self.alone_since is None:
            self.alone_since = now
        return job

    def finish(self) -> Job:
        """The running call is over."""
        return self._jobs.popleft()

    def take_back(self) -> list[Job]:
        """What lies ready, to be run elsewhere; the worker has it all the same, so ghosts keep its place."""
        laid = list(self._jobs)[1:]
        for place, job in enumerate(laid, 1):
            self._jobs[place] = job.ghost()
        return laid
