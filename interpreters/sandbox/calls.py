"""One call and the connection that carries it: what the pool and the blocking runner share.

These decide which call runs where and when to kill; here a call becomes a frame, a reply becomes an outcome or an
error, and the end of a worker becomes an error of the script.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

import msgspec

from interpreters.core.engine import Limits, Outcome, Script
from interpreters.core.errors import BusyError, InternalError, InterpError, LimitError, ScriptError
from interpreters.sandbox.messages import (
    Answer,
    Call,
    Failure,
    FrameBuffer,
    Load,
    Names,
    ProtocolError,
    Ready,
    Reply,
    encode,
    error_of,
    largest_reply,
)
from interpreters.sandbox.process import KILLED_OUTSIDE, MEMORY, TOO_MANY_THREADS, WorkerProcess

LONGEST_GRACE = 0.1

STARTING = 30.0
"""Seconds a worker may take to become ready; only an overloaded machine needs more than one."""

SLOTS = 256
"""Scripts that a worker keeps; the one after that replaces the oldest."""


class Recycling(msgspec.Struct, frozen=True):
    """After how many calls, or above which resident size after one, a worker is replaced."""

    calls: int = 100_000
    resident: int = 256 * 1024 * 1024


class Task(msgspec.Struct, frozen=True, eq=False):
    """What is to be run. An empty function asks for the names of all. `deadline` is the caller's, absolute."""

    script: Script
    function: str
    arguments: Sequence[bytes]
    reads_only: bool
    limits: Limits
    deadline: float | None

    def has_full_time(self, seconds: float) -> bool:
        """So much time is all that its limits give; running out of it is then the script's own doing."""
        return seconds >= self.limits.seconds


class Connection:
    """One worker and what it has been told."""

    def __init__(self, process: WorkerProcess, limits: Limits) -> None:
        self.process = process
        self.limits = limits
        self.engines: Mapping[str, str] | None = None
        self.hardening: dict[str, str] = {}
        self.ready = False
        self.answered = 0  # calls so far; a worker that has answered any may suffer from what they left behind
        # After so many it is replaced. Counted here: a worker that could ask for a successor would ask for many.
        self.most_calls = Recycling().calls
        self._largest_reply = largest_reply(limits)
        self.buffer = FrameBuffer(self._largest_reply)
        self._slots: dict[Script, int] = {}
        self._owners: dict[int, Script] = {}
        self._next = 0

    def load(self, engines: Mapping[str, str], recycling: Recycling) -> bytearray:
        self.engines = engines
        self.most_calls = recycling.calls
        return encode(Load(dict(engines), self.limits, recycling.resident))

    def call(self, task: Task, now: float) -> tuple[bytearray, float, float]:
        """The frame for one call, how many seconds it has, and after how many to kill the worker. Raises `BusyError` if
        its deadline has passed, and `ScriptError`.

        A worker is killed a little later than its call should end, because the engine's own error says more. The
        script's text goes along the first time. Loading it is no part of the call and has time of its own, as far as
        the caller's deadline leaves any.
        """
        limits = task.limits
        seconds, loading = limits.seconds, 0.0
        slot = self._slots.get(task.script)
        if slot is None:
            loading = seconds
        if task.deadline is not None and task.deadline - now < seconds + loading:
            seconds = min(seconds, task.deadline - now)
            loading = max(0.0, task.deadline - now - seconds)
            if seconds <= 0:
                raise no_worker_in_time()
            if seconds < limits.seconds:
                limits = msgspec.structs.replace(limits, seconds=seconds)
        self.buffer.limit = self._largest_reply if task.limits is self.limits else largest_reply(task.limits)
        script = None
        if slot is None:
            script, slot = task.script, self._next
            self._next = (self._next + 1) % SLOTS
            self._slots.pop(self._owners.get(slot, script), None)
            self._slots[script], self._owners[slot] = slot, script
        other = None if limits == self.limits else limits
        try:
            frame = encode(Call(slot, script, task.function, list(task.arguments), task.reads_only, other))
        except UnicodeEncodeError:
            self._slots.pop(task.script, None)
            raise ScriptError("the text is not valid Unicode", **_where(task)) from None
        return frame, seconds, seconds + loading + min(LONGEST_GRACE, seconds / 2)

    def accept_ready(self, reply: Reply) -> None:
        if self.ready or not isinstance(reply, Ready):
            raise ProtocolError("a reply before it was ready")
        self.ready, self.hardening = True, reply.hardening


def result_of(task: Task, reply: Reply, seconds: float) -> Outcome | frozenset[str] | InterpError:
    """What the caller gets for a reply to a call that had so many seconds. Raises `ProtocolError`."""
    if isinstance(reply, Answer) and task.function:
        if len(reply.outcome.printed) > task.limits.printed:
            raise ProtocolError("more printed text than the call allows")
        if sum(map(len, reply.outcome.values)) > task.limits.output:
            raise ProtocolError("a larger result than the call allows")
        return reply.outcome
    if isinstance(reply, Names) and not task.function:
        return reply.functions
    if isinstance(reply, Failure):
        if len(reply.printed) > task.limits.printed:
            raise ProtocolError("more printed text than the call allows")
        error = error_of(reply, task.script.name, task.function)
        if ran_out_of_time(error) and not task.has_full_time(seconds):
            error.message = timed_out(task, seconds).message  # how little time was left says nothing to the caller
        return error
    raise ProtocolError("a reply to something else")


def ran_out_of_memory(result: object) -> TypeGuard[LimitError]:
    return isinstance(result, LimitError) and result.limit == MEMORY


def ran_out_of_time(result: object) -> TypeGuard[LimitError]:
    return isinstance(result, LimitError) and result.limit == "time"


def input_too_large(task: Task, size: int) -> LimitError:
    message = f"the arguments have {size} bytes, at most {task.limits.input} are allowed"
    return LimitError("input", message, **_where(task))


def no_worker_in_time() -> BusyError:
    return BusyError("no worker became free before the caller's deadline")


def timed_out(task: Task, seconds: float) -> LimitError:
    if task.has_full_time(seconds):
        return LimitError("time", f"did not finish within {task.limits.seconds:g} s", **_where(task))
    return LimitError("time", "did not finish before the caller's deadline", **_where(task))


def start_failed(process: WorkerProcess, cause: str) -> InternalError:
    """A worker that ended before it was ready; no script is to blame."""
    words = f": {process.stderr_tail}" if process.stderr_tail else ""
    return InternalError(f"no sandbox worker starts: it {cause}{words}")


def worker_died(task: Task, cause: str) -> InterpError:
    """What the caller gets when the worker ended on its own; `cause` as `WorkerProcess.exit_cause` tells it."""
    if cause == MEMORY:
        return LimitError("memory", "used more memory than its worker may have", **_where(task))
    if cause == KILLED_OUTSIDE:
        return InternalError(f"{ScriptError('its workers were killed from outside, twice', **_where(task))}")
    return ScriptError(f"its worker {cause}", **_where(task))


def bad_reply(task: Task, error: ProtocolError) -> ScriptError:
    return ScriptError(f"its worker sent {error} and was stopped", **_where(task))


def reason_of(cause: str) -> str:
    """The cause in one word, for the counters."""
    return {MEMORY: MEMORY, KILLED_OUTSIDE: "lost", TOO_MANY_THREADS: "threads"}.get(cause, "crash")


def _where(task: Task) -> dict[str, Any]:
    return {"script": task.script.name, "function": task.function or None}
