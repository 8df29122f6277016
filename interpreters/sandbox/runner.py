"""The sandbox as the command line uses it: blocking calls, from one thread or from several."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self, cast

from interpreters.core.engine import Limits, Outcome, Script
from interpreters.core.errors import BusyError, InterpError
from interpreters.core.languages import engines_of_languages
from interpreters.sandbox import process
from interpreters.sandbox.calls import (
    STARTING,
    Conversation,
    Recycling,
    Task,
    check_input,
    died,
    lied,
    overdue,
    ran_out_of_memory,
    reason_of,
    settle,
    stillborn,
    too_late,
)
from interpreters.sandbox.messages import ProtocolError, Ready, Reply, decode_reply
from interpreters.sandbox.standing import Standings
from interpreters.sandbox.stats import Counters, SandboxStats

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

CHUNK = 64 * 1024


class SandboxRunner:
    """Up to `workers` calls at once. Workers start when they are needed and load the languages seen so far.

    `first` is a worker that was started early, before the caller knew what to run.
    """

    def __init__(
        self,
        workers: int = 1,
        *,
        limits: Limits | None = None,
        engines: Mapping[str, str] | None = None,
        recycling: Recycling | None = None,
        standings: Standings | None = None,
        first: process.WorkerProcess | None = None,
    ) -> None:
        self.workers = workers
        self.limits = limits or Limits()
        self.standings = standings or Standings()
        self._engines = engines_of_languages() if engines is None else engines
        self._recycling = recycling or Recycling()
        self._languages: set[str] = set()
        self._idle: list[Conversation] = [Conversation(first, self.limits)] if first else []
        self._alive: set[Conversation] = set(self._idle)
        self._dying: list[process.WorkerProcess] = []
        self._busy = 0
        self._waiting = 0
        self._counters = Counters()
        self._hardening: dict[str, str] = {}
        self._change = threading.Condition()
        self._spawner: ThreadPoolExecutor | None = None
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Stop and collect every worker, also those that are busy for other threads."""
        with self._change:
            self._closed = True
            alive, self._alive, self._idle = list(self._alive), set(), []
            self._change.notify_all()
        for conversation in alive:
            self._bury(conversation)
        for worker in self._dying:
            worker.wait(5.0)
            worker.close()
        if self._spawner is not None:
            self._spawner.shutdown()

    def call(
        self,
        script: Script,
        function: str,
        arguments: Sequence[bytes],
        *,
        reads_only: bool = False,
        limits: Limits | None = None,
        deadline: float | None = None,
    ) -> Outcome:
        """Run one function. `deadline` is absolute, on the clock of `time.monotonic`."""
        return cast(Outcome, self._run(Task(script, function, arguments, reads_only, limits or self.limits, deadline)))

    def functions(
        self, script: Script, *, limits: Limits | None = None, deadline: float | None = None
    ) -> frozenset[str]:
        """The names of the functions that the script defines."""
        return cast("frozenset[str]", self._run(Task(script, "", (), False, limits or self.limits, deadline)))

    def hardening(self) -> dict[str, str]:
        """What confines the workers on this system, and what it lacks; empty before the first call."""
        return dict(self._hardening)

    def stats(self) -> SandboxStats:
        """A snapshot of the counters."""
        ready = sum(conversation.ready for conversation in self._alive)
        starting = len(self._alive) - ready
        return self._counters.snapshot(
            self.standings.sentences(time.monotonic()),
            size=self.workers,
            ready=ready,
            starting=starting,
            busy=self._busy,
            waiting=self._waiting,
        )

    def _run(self, task: Task) -> Outcome | frozenset[str]:
        check_input(task)
        self.standings.check(task, time.monotonic())
        self._counters.calls += 1
        retried = fresh = False
        while True:
            conversation = self._take(task, fresh=fresh)
            used = conversation.answered > 0
            try:
                result = self._converse(conversation, task)
            except EOFError:
                cause = self._lose(conversation)
                if cause != process.OUTSIDE and not conversation.ready:
                    raise stillborn(conversation.process, cause) from None
                if self._closed or (retried if cause == process.OUTSIDE else fresh or not used):
                    for _ in range(2 if retried else 1):
                        self.standings.lose(task, reason_of(cause), time.monotonic())
                    raise died(task, cause) from None
                retried, fresh = (True, fresh) if cause == process.OUTSIDE else (retried, True)
            except ProtocolError as error:
                self._counters.kills["protocol"] += 1
                self._discard(conversation)
                if fresh or not used:
                    self.standings.lose(task, "protocol", time.monotonic())
                    raise lied(task, error) from None
                fresh = True
            except BaseException:
                self._discard(conversation)
                raise
            else:
                lost_to_memory = ran_out_of_memory(result) and conversation not in self._alive
                if lost_to_memory and (fresh or not used):
                    self.standings.lose(task, process.MEMORY, time.monotonic())
                elif lost_to_memory:
                    fresh = True
                    self._counters.retries += 1
                    continue
                if isinstance(result, InterpError):
                    raise result
                return result
            self._counters.retries += 1

    def _take(self, task: Task, *, fresh: bool) -> Conversation:
        """An idle worker that has the language loaded or can still load it; a new one if there may be one more.

        `fresh`: one that has served nobody."""
        with self._change:
            while not self._closed:
                self._languages.add(task.script.language)
                for dead in [idle for idle in self._idle if idle.process.reap()]:
                    self._idle.remove(dead)
                    self._counters.kills[reason_of(dead.process.bury())] += 1
                    self._bury(dead)
                for conversation in reversed(self._idle):
                    if self._speaks(conversation, task.script.language) and not (fresh and conversation.answered):
                        self._idle.remove(conversation)
                        self._busy += 1
                        return conversation
                if len(self._alive) >= self.workers and self._idle:
                    self._bury(self._idle.pop())
                if len(self._alive) < self.workers:
                    self._busy += 1
                    return self._start()
                self._waiting += 1
                ended = not self._change.wait(None if task.deadline is None else task.deadline - time.monotonic())
                self._waiting -= 1
                if ended:
                    raise too_late()
        raise BusyError("the sandbox is closed")

    def _speaks(self, conversation: Conversation, language: str) -> bool:
        loaded = conversation.engines
        return loaded is None or language in loaded or language not in self._engines

    def _start(self) -> Conversation:
        """A worker ends with the thread that started it, so a passing thread lets one that stays do it."""
        if threading.current_thread() is threading.main_thread():
            worker = process.start()
        else:
            if self._spawner is None:
                from concurrent.futures import ThreadPoolExecutor

                self._spawner = ThreadPoolExecutor(1, "sandbox-spawner")
            worker = self._spawner.submit(process.start).result()
        conversation = Conversation(worker, self.limits)
        self._alive.add(conversation)
        return conversation

    def _converse(self, conversation: Conversation, task: Task) -> Outcome | frozenset[str] | InterpError:
        if conversation.engines is None:
            engines = {name: self._engines[name] for name in self._languages if name in self._engines}
            self._send(conversation, conversation.load(engines, self._recycling), STARTING)
        now = time.monotonic()
        seconds = task.seconds(now)
        if seconds <= 0:
            self._put_back(conversation)
            return too_late()
        longest = conversation.patience(task, seconds, now)
        frame = conversation.call(task, seconds)
        try:
            self._send(conversation, frame, longest + (0 if conversation.ready else STARTING))
            if not conversation.ready:
                conversation.greet(self._receive(conversation, STARTING))
                self._hardening = conversation.hardening
            reply = self._receive(conversation, longest)
        except TimeoutError:
            if not conversation.ready:
                raise stillborn(conversation.process, "did not become ready") from None
            self._counters.kills["time"] += 1
            if task.unhurried(seconds):
                self.standings.lose(task, "time", time.monotonic())
            raise overdue(task, seconds) from None
        if conversation.buffer.pending or isinstance(reply, Ready):
            raise ProtocolError("more than one reply" if conversation.buffer.pending else "a reply to something else")
        result = settle(task, reply, seconds)
        conversation.answered += 1
        if reply.heavy:
            self._counters.kills[process.MEMORY] += 1
            self._discard(conversation)
        else:
            self._put_back(conversation)
        return result

    def _send(self, conversation: Conversation, frame: bytearray, seconds: float) -> None:
        conversation.process.socket.settimeout(seconds)
        try:
            conversation.process.socket.sendall(frame)
        except TimeoutError:
            raise
        except OSError as error:
            raise EOFError from error

    def _receive(self, conversation: Conversation, seconds: float) -> Reply:
        payload: bytearray | memoryview | None = conversation.buffer.take()
        until = time.monotonic() + seconds
        sock = conversation.process.socket
        while payload is None:
            sock.settimeout(min(process.LOOK_AT_THREADS, max(0.001, until - time.monotonic())))
            try:
                chunk = sock.recv(CHUNK)
            except TimeoutError:
                if time.monotonic() > until:
                    raise
                conversation.process.look_at_threads()
                continue
            except OSError as error:
                raise EOFError from error
            if not chunk:
                raise EOFError
            if time.monotonic() > until:
                raise TimeoutError
            payload = conversation.buffer.feed(memoryview(chunk))
        return decode_reply(payload)

    def _put_back(self, conversation: Conversation) -> None:
        """Idle again; a worn-out worker goes, and its successor starts while nobody waits for it."""
        if conversation.spent:
            self._counters.recycled += 1
            self._discard(conversation)
            return
        with self._change:
            self._busy -= 1
            if not self._closed:
                self._idle.append(conversation)
            self._change.notify()

    def _discard(self, conversation: Conversation) -> None:
        with self._change:
            self._busy -= 1
            self._bury(conversation)
            if not self._closed:
                self._idle.append(self._start())
            self._change.notify()

    def _lose(self, conversation: Conversation) -> str:
        """The worker hung up: what it died of."""
        conversation.process.kill()
        conversation.process.wait(5.0)
        cause = conversation.process.bury()
        self._counters.kills[reason_of(cause)] += 1
        self._discard(conversation)
        return cause

    def _bury(self, conversation: Conversation) -> None:
        self._alive.discard(conversation)
        conversation.process.kill()
        still = [worker for worker in (*self._dying, conversation.process) if not worker.reap()]
        for worker in {*self._dying, conversation.process} - {*still}:
            worker.close()
        self._dying = still
