"""The workers of an asyncio pool: started, listened to, replaced, killed and collected, never blocking the loop.

What a worker sends and why it ends goes to the methods that dispatch.py fills in, which knows whose call it was.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from math import inf

from interpreters.core.engine import Limits
from interpreters.core.errors import InternalError
from interpreters.sandbox import process
from interpreters.sandbox.calls import STARTING, Connection, Recycling, start_failed
from interpreters.sandbox.messages import ProtocolError, Reply, decode_reply
from interpreters.sandbox.pipeline import Pipeline

CHUNK = 256 * 1024
SLOWEST_RETRY = 5.0
LONGEST_EXIT = 0.1
"""Seconds a process may take to end after its socket did; the caller waits for the cause."""


class PooledWorker:
    """One worker of the pool; `retiring` means it works on until its successor is ready.

    `due` is when the call that it runs must be over.
    """

    __slots__ = ("_timer", "connection", "due", "pipeline", "process", "retiring", "socket", "unsent", "wakes_at")

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.process = connection.process
        self.socket = connection.process.socket
        self.pipeline = Pipeline()
        self.retiring = False
        self.due = inf
        self.unsent: memoryview | None = None
        self._timer: asyncio.TimerHandle | None = None
        self.wakes_at = inf

    def wake_at(self, when: float, look: Callable[[PooledWorker], None]) -> None:
        """Call `look` then, unless it is to be called earlier anyway.

        `look` sets the next time. A call that is over by then has cost no timer of its own.
        """
        if when < self.wakes_at:
            self.stop_timer()
            self._timer = asyncio.get_running_loop().call_at(when, self._wake, look)
            self.wakes_at = when

    def _wake(self, look: Callable[[PooledWorker], None]) -> None:
        self._timer, self.wakes_at = None, inf
        look(self)

    def stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer, self.wakes_at = None, inf


class Workers(ABC):
    """Keeps `size` workers up."""

    def __init__(self, size: int, engines: Mapping[str, str], limits: Limits, recycling: Recycling) -> None:
        self.size = size
        self.limits = limits
        self.pooled: set[PooledWorker] = set()
        self.failed_starts = 0
        self._engines = engines
        self._recycling = recycling
        self._loop = asyncio.get_running_loop()
        self._dying: set[process.WorkerProcess] = set()
        self._exits_pending = 0
        self._chunk = memoryview(bytearray(CHUNK))
        self._retry: asyncio.TimerHandle | None = None
        self._closed = False
        self._watch = self._loop.call_later(process.LOOK_AT_THREADS, self._look_at_threads)

    @abstractmethod
    def on_ready(self, worker: PooledWorker) -> None:
        """It takes calls from now on."""

    @abstractmethod
    def on_reply(self, worker: PooledWorker, reply: Reply) -> None:
        """May raise ProtocolError."""

    @abstractmethod
    def on_bad_reply(self, worker: PooledWorker, error: ProtocolError) -> None:
        """It sent what is no reply and has been killed."""

    @abstractmethod
    def on_disconnect(self, worker: PooledWorker) -> None:
        """It takes no more calls; `on_exit` or `on_start_failed` follows when it is known why."""

    @abstractmethod
    def on_exit(self, worker: PooledWorker, cause: str) -> None:
        """It ended by itself; `cause` as `WorkerProcess.exit_cause` tells it."""

    @abstractmethod
    def on_start_failed(self, error: InternalError) -> None:
        """It never became ready."""

    def _look_at_threads(self) -> None:
        """A hostile worker may start threads until the machine has no room for more, also between calls."""
        self._watch = self._loop.call_later(process.LOOK_AT_THREADS, self._look_at_threads)
        for worker in self.pooled:
            worker.process.look_at_threads()

    def replenish(self) -> None:
        """Have `size` workers that are not retiring. After a failed start the next one waits, ever longer."""
        while not self._closed and self._too_few():
            if self.failed_starts:
                if self._retry is None:
                    delay = min(SLOWEST_RETRY, 0.05 * 2**self.failed_starts)
                    self._retry = self._loop.call_later(delay, self._try_again)
                return
            self._start()

    def _too_few(self) -> bool:
        return sum(not worker.retiring for worker in self.pooled) < self.size

    def _try_again(self) -> None:
        self._retry = None
        if not self._closed and self._too_few():
            self._start()

    def _start(self) -> None:
        try:
            started = process.start()
        except OSError as error:
            self._start_failed(InternalError(f"no sandbox worker starts: {error.strerror}"))
            return
        started.socket.setblocking(False)
        worker = PooledWorker(Connection(started, self.limits))
        self.pooled.add(worker)
        worker.wake_at(self._loop.time() + STARTING, self._too_slow)
        self._loop.add_reader(worker.socket, self._readable, worker)
        self.send(worker, memoryview(worker.connection.load(self._engines, self._recycling)))

    def _too_slow(self, worker: PooledWorker) -> None:
        self.remove(worker)
        self._start_failed(start_failed(worker.process, "did not become ready"))

    def _start_failed(self, error: InternalError) -> None:
        self.failed_starts += 1
        self.on_start_failed(error)
        self.replenish()

    def replaced(self) -> bool:
        """Whether a retiring worker may go."""
        return sum(worker.connection.ready and not worker.retiring for worker in self.pooled) >= self.size

    def send(self, worker: PooledWorker, frame: memoryview) -> None:
        try:
            sent = worker.socket.send(frame)
        except BlockingIOError:
            sent = 0
        except OSError:  # it is gone: the reader sees the end of the stream
            return
        if sent < len(frame):
            worker.unsent = frame[sent:]
            self._loop.add_writer(worker.socket, self._writable, worker)

    def _writable(self, worker: PooledWorker) -> None:
        self._loop.remove_writer(worker.socket)
        unsent, worker.unsent = worker.unsent, None
        if unsent is not None:
            self.send(worker, unsent)

    def _readable(self, worker: PooledWorker) -> None:
        """Read until nothing is left: uvloop tells only once of a worker that ended with calls in its pipeline."""
        while worker in self.pooled:
            try:
                size = worker.socket.recv_into(self._chunk)
            except BlockingIOError:
                return
            except OSError:
                size = 0
            if not size:
                self._end_of_stream(worker)
                return
            buffer = worker.connection.buffer
            try:
                payload = buffer.take(self._chunk[:size])
                while payload is not None:
                    reply = decode_reply(payload)
                    if buffer.pending and len(worker.pipeline) < 2:
                        raise ProtocolError("more than one reply")  # noqa: TRY301 - as every bad reply
                    if worker.connection.ready:
                        self.on_reply(worker, reply)
                    else:
                        self._on_first_reply(worker, reply)
                    payload = buffer.take() if buffer.pending and worker in self.pooled else None
            except ProtocolError as error:
                self.remove(worker)
                self.on_bad_reply(worker, error)
                self.replenish()

    def _on_first_reply(self, worker: PooledWorker, reply: Reply) -> None:
        worker.connection.accept_ready(reply)
        worker.stop_timer()
        self.failed_starts = 0
        self.replenish()
        self.on_ready(worker)

    def _end_of_stream(self, worker: PooledWorker) -> None:
        self._detach(worker)
        self.on_disconnect(worker)
        if worker.connection.ready:
            self.replenish()
        self._exits_pending += 1
        self._find_exit_cause(worker, self._loop.time() + LONGEST_EXIT)

    def _find_exit_cause(self, worker: PooledWorker, until: float) -> None:
        """Find out why it ended; a process takes a moment longer to end than its socket."""
        if worker.process.reap():
            cause = worker.process.exit_cause()
        elif self._loop.time() < until:
            self._loop.call_later(0.001, self._find_exit_cause, worker, until)
            return
        else:
            cause = process.KILLED_OUTSIDE
            self._collect(worker.process)
        self._exits_pending -= 1
        if worker.connection.ready:
            self.on_exit(worker, cause)
        else:
            self._start_failed(start_failed(worker.process, cause))

    def remove(self, worker: PooledWorker) -> None:
        """Kill a worker. Its process is collected in the background."""
        self._detach(worker)
        self._collect(worker.process)

    def _detach(self, worker: PooledWorker) -> None:
        self.pooled.discard(worker)
        worker.stop_timer()
        worker.unsent = None
        self._loop.remove_reader(worker.socket)
        self._loop.remove_writer(worker.socket)
        worker.process.kill()

    def _collect(self, worker: process.WorkerProcess) -> None:
        if not self._dying:
            self._loop.call_later(0.002, self._reap, 0.002)
        self._dying.add(worker)

    def _reap(self, pause: float) -> None:
        for worker in [worker for worker in self._dying if worker.reap()]:
            self._dying.discard(worker)
            worker.close()
        if self._dying:
            pause = min(2 * pause, 0.1)
            self._loop.call_later(pause, self._reap, pause)

    async def close(self) -> None:
        """Kill and collect every worker."""
        self._closed = True
        self._watch.cancel()
        if self._retry is not None:
            self._retry.cancel()
        for worker in list(self.pooled):
            self.remove(worker)
        while self._dying or self._exits_pending:
            await asyncio.sleep(0.002)
