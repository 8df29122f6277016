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
    Connection,
    Recycling,
    Task,
    bad_reply,
    input_too_large,
    no_worker_in_time,
    ran_out_of_memory,
    reason_of,
    result_of,
    start_failed,
    timed_out,
    worker_died,
)
from interpreters.sandbox.messages import ProtocolError, Ready, Reply, decode_reply
from interpreters.sandbox.reputation import Reputations
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
        reputations: Reputations | None = None,
        first: process.WorkerProcess | None = None,
    ) -> None:
        self.workers = workers
        self.limits = limits or Limits()
        self.reputations = reputations or Reputations()
        self._engines = engines_of_languages() if engines is None else engines
        self._recycling = recycling or Recycling()
        self._languages: set[str] = set()
        self._idle: list[Connection] = [Connection(first, self.limits)] if first else []
        self._alive: set[Connection] = set(self._idle)
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
        for connection in alive:
            self._remove(connection)
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
        ready = sum(connection.ready for connection in self._alive)
        starting = len(self._alive) - ready
        return self._counters.snapshot(
            self.reputations.quarantines(time.monotonic()),
            size=self.workers,
            ready=ready,
            starting=starting,
            busy=self._busy,
            waiting=self._waiting,
        )

    def _run(self, task: Task) -> Outcome | frozenset[str]:
        size = sum(map(len, task.arguments))
        if size > task.limits.input:
            raise input_too_large(task, size)
        self.reputations.check(task, time.monotonic())
        self._counters.calls += 1
        retried = fresh = False
        while True:
            connection = self._take(task, fresh=fresh)
            used = connection.answered > 0
            try:
                result = self._exchange(connection, task)
            except EOFError:
                cause = self._exit_cause(connection)
                if cause != process.KILLED_OUTSIDE and not connection.ready:
                    raise start_failed(connection.process, cause) from None
                if self._closed or (retried if cause == process.KILLED_OUTSIDE else fresh or not used):
                    for _ in range(2 if retried else 1):
                        self.reputations.note_loss(task, reason_of(cause), time.monotonic())
                    raise worker_died(task, cause) from None
                retried, fresh = (True, fresh) if cause == process.KILLED_OUTSIDE else (retried, True)
            except ProtocolError as error:
                self._counters.kills["protocol"] += 1
                self._discard(connection)
                if fresh or not used:
                    self.reputations.note_loss(task, "protocol", time.monotonic())
                    raise bad_reply(task, error) from None
                fresh = True
            except BaseException:
                self._discard(connection)
                raise
            else:
                lost_to_memory = ran_out_of_memory(result) and connection not in self._alive
                if lost_to_memory and (fresh or not used):
                    self.reputations.note_loss(task, process.MEMORY, time.monotonic())
                elif lost_to_memory:
                    fresh = True
                    self._counters.retries += 1
                    continue
                if isinstance(result, InterpError):
                    raise result
                return result
            self._counters.retries += 1

    def _take(self, task: Task, *, fresh: bool) -> Connection:
        """An idle worker that has the language loaded or can still load it; a new one if there may be one more.

        `fresh`: one that has answered no call."""
        with self._change:
            while not self._closed:
                self._languages.add(task.script.language)
                for dead in [idle for idle in self._idle if idle.process.reap()]:
                    self._idle.remove(dead)
                    self._counters.kills[reason_of(dead.process.exit_cause())] += 1
                    self._remove(dead)
                for connection in reversed(self._idle):
                    if self._can_run(connection, task.script.language) and not (fresh and connection.answered):
                        self._idle.remove(connection)
                        self._busy += 1
                        return connection
                if len(self._alive) >= self.workers and self._idle:
                    self._remove(self._idle.pop())
                if len(self._alive) < self.workers:
                    self._busy += 1
                    return self._start()
                self._waiting += 1
                ended = not self._change.wait(None if task.deadline is None else task.deadline - time.monotonic())
                self._waiting -= 1
                if ended:
                    raise no_worker_in_time()
        raise BusyError("the sandbox is closed")

    def _can_run(self, connection: Connection, language: str) -> bool:
        loaded = connection.engines
        return loaded is None or language in loaded or language not in self._engines

    def _start(self) -> Connection:
        """A worker ends with the thread that started it, so a passing thread lets one that stays do it."""
        if threading.current_thread() is threading.main_thread():
            worker = process.start()
        else:
            if self._spawner is None:
                from concurrent.futures import ThreadPoolExecutor

                self._spawner = ThreadPoolExecutor(1, "sandbox-spawner")
            worker = self._spawner.submit(process.start).result()
        connection = Connection(worker, self.limits)
        self._alive.add(connection)
        return connection

    def _exchange(self, connection: Connection, task: Task) -> Outcome | frozenset[str] | InterpError:
        if connection.engines is None:
            engines = {name: self._engines[name] for name in self._languages if name in self._engines}
            self._send(connection, connection.load(engines, self._recycling), STARTING)
        try:
            frame, seconds, longest = connection.call(task, time.monotonic())
        except InterpError as error:
            self._put_back(connection)
            return error
        try:
            self._send(connection, frame, longest + (0 if connection.ready else STARTING))
            if not connection.ready:
                connection.accept_ready(self._receive(connection, STARTING))
                self._hardening = connection.hardening
            reply = self._receive(connection, longest)
        except TimeoutError:
            if not connection.ready:
                raise start_failed(connection.process, "did not become ready") from None
            self._counters.kills["time"] += 1
            if task.has_full_time(seconds):
                self.reputations.note_loss(task, "time", time.monotonic())
            raise timed_out(task, seconds) from None
        if connection.buffer.pending or isinstance(reply, Ready):
            raise ProtocolError("more than one reply" if connection.buffer.pending else "a reply to something else")
        result = result_of(task, reply, seconds)
        connection.answered += 1
        if reply.heavy:
            self._counters.kills[process.MEMORY] += 1
            self._discard(connection)
        else:
            self._put_back(connection)
        return result

    def _send(self, connection: Connection, frame: bytearray, seconds: float) -> None:
        connection.process.socket.settimeout(seconds)
        try:
            connection.process.socket.sendall(frame)
        except TimeoutError:
            raise
        except OSError as error:
            raise EOFError from error

    def _receive(self, connection: Connection, seconds: float) -> Reply:
        payload = connection.buffer.take()
        until = time.monotonic() + seconds
        sock = connection.process.socket
        while payload is None:
            sock.settimeout(min(process.LOOK_AT_THREADS, max(0.001, until - time.monotonic())))
            try:
                chunk = sock.recv(CHUNK)
            except TimeoutError:
                if time.monotonic() > until:
                    raise
                connection.process.look_at_threads()
                continue
            except OSError as error:
                raise EOFError from error
            if not chunk:
                raise EOFError
            if time.monotonic() > until:
                raise TimeoutError
            payload = connection.buffer.take(chunk)
        return decode_reply(payload)

    def _put_back(self, connection: Connection) -> None:
        """Idle again; a worker that has served long enough is replaced while no call waits for it."""
        if connection.answered >= connection.most_calls:
            self._counters.recycled += 1
            self._discard(connection)
            return
        with self._change:
            self._busy -= 1
            if not self._closed:
                self._idle.append(connection)
            self._change.notify()

    def _discard(self, connection: Connection) -> None:
        with self._change:
            self._busy -= 1
            self._remove(connection)
            if not self._closed:
                self._idle.append(self._start())
            self._change.notify()

    def _exit_cause(self, connection: Connection) -> str:
        """The worker closed its socket: why it ended."""
        connection.process.kill()
        connection.process.wait(5.0)
        cause = connection.process.exit_cause()
        self._counters.kills[reason_of(cause)] += 1
        self._discard(connection)
        return cause

    def _remove(self, connection: Connection) -> None:
        self._alive.discard(connection)
        connection.process.kill()
        still = [worker for worker in (*self._dying, connection.process) if not worker.reap()]
        for worker in {*self._dying, connection.process} - {*still}:
            worker.close()
        self._dying = still
