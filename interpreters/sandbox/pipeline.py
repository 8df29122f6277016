"""The calls that one worker has been sent: the one it runs, and those pipelined behind it.

Sending a call to a sleeping worker and being woken by its answer costs more than a short call itself. So calls of
scripts that answer fast are sent ahead of their turn. A pipelined call has not begun: its time does not run, and it is
not blamed if the worker ends. If the call in front takes long, those behind it are taken back to be run elsewhere; the
worker's answers to them are then dropped.
"""

from __future__ import annotations

import asyncio
from collections import deque

from msgspec import Struct

from interpreters.core.engine import Outcome
from interpreters.core.errors import InterpError
from interpreters.sandbox.calls import Task
from interpreters.sandbox.reputation import Reputation

DEPTH = 8
"""Calls of one worker at most, the running one included."""

STALLED = 0.03
"""Seconds the running call may take before those behind it are taken back."""

SLACK = 0.25
"""Seconds a pipelined call must have to spare: its turn may come after a stall of each call before it."""

SMALL = 64 * 1024
"""Bytes of arguments that may be pipelined. Larger ones take longer than being woken, and would fill the socket."""


class Job(Struct, eq=False):
    """A call that somebody awaits. `fast`: it may be pipelined behind others, and others behind it. `fresh`: it failed
    in a worker that others had used, and is tried again in a new one. `retried`: its worker was killed from outside."""

    task: Task
    reputation: Reputation
    digest: str
    size: int  # of its arguments, in bytes
    future: asyncio.Future[Outcome | frozenset[str]]
    fast: bool = False
    suspect: bool = False  # when it began
    fresh: bool = False
    retried: bool = False
    seconds: float = 0.0  # that it may run
    kill_after: float = 0.0  # seconds
    timer: asyncio.TimerHandle | None = None

    def fail(self, error: InterpError) -> None:
        if not self.future.done():
            self.future.set_exception(error)

    def placeholder(self) -> Job:
        """The same call, awaited by nobody."""
        nobody: asyncio.Future[Outcome | frozenset[str]] = self.future.get_loop().create_future()
        nobody.cancel()
        return Job(self.task, self.reputation, self.digest, self.size, nobody)


class Pipeline(deque[Job]):
    """First in, first out: the worker runs the first and answers in this order.

    `began` is when the running call did; `abandoned_since`, when the worker turned to calls that nobody awaits.
    """

    def __init__(self) -> None:
        super().__init__()
        self.began = 0.0
        self.abandoned_since: float | None = None

    def has_room(self, now: float) -> bool:
        """Whether a call may be pipelined behind the running one."""
        return 0 < len(self) < DEPTH and self[0].fast and now < self.began + STALLED

    def take_back(self) -> list[Job]:
        """The pipelined calls, to be run elsewhere. The worker answers them all the same, so placeholders stay."""
        pipelined = list(self)[1:]
        for place, job in enumerate(pipelined, 1):
            self[place] = job.placeholder()
        return pipelined
