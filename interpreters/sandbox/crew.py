"""The workers of an asyncio pool: started, listened to, replaced, killed and collected, never blocking the loop.

What a worker says or dies of is told to the pool, which alone knows whose call it was.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from math import inf
from typing import Protocol

from interpreters.core.engine import Limits
from interpreters.core.errors import InternalError
from interpreters.sandbox import process
from interpreters.sandbox.calls import STARTING, Conversation, Recycling, stillborn
from interpreters.sandbox.messages import ProtocolError, Reply, decode_reply
from interpreters.sandbox.tray import Tray

CHUNK = 256 * 1024
SLOWEST_RETRY = 5.0
LONGEST_INQUIRY = 0.1
"""Seconds a process may take to end after its socket did; the caller waits for what it died of."""


class Seat:
    """One worker in the crew; `retiring` means it works on until its successor is ready.

    `due` is when the call that it runs must be over.
    """

    __slots__ = ("_timer", "_timer_at", "conversation", "due", "process", "retiring", "socket", "tray", "unsent")

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self.process = conversation.process
        self.socket = conversation.process.socket
        self.tray = Tray()
        self.retiring = False
        self.due = inf
        self.unsent: memoryview | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = inf

    def look_at(self, when: float, look: Callable[[Seat], None]) -> None:
        """Have it looked at then, if that is not to happen earlier anyway.

        Who looks asks for the next time. A call that is over by then has cost no timer of its own.
        """
        if when < self._timer_at:
            self.stop_timer()
            self._timer = asyncio.get_running_loop().call_at(when, self._look, look)
            self._timer_at = when

    def _look(self, look: Callable[[Seat], None]) -> None:
        self._timer, self._timer_at = None, inf
        look(self)

    def stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer, self._timer_at = None, inf


class Listener(Protocol):
    """Whom the crew reports to."""

    def on_ready(self, seat: Seat) -> None: ...

    def on_reply(self, seat: Seat, reply: Reply) -> None:
        """May raise ProtocolError."""

    def on_lie(self, seat: Seat, error: ProtocolError) -> None:
        """It sent what is no reply and has been killed."""

    def on_hang_up(self, seat: Seat) -> None:
        """It takes no more calls; `on_death` or `on_false_start` follows when it is known why."""

    def on_death(self, seat: Seat, cause: str) -> None:
        """It ended by itself and has been buried."""

    def on_false_start(self, error: InternalError) -> None:
        """It never became ready."""


class Crew:
    """Keeps `size` workers up."""

    def __init__(
        self, size: int, engines: Mapping[str, str], limits: Limits, recycling: Recycling, listener: Listener
    ) -> None:
        self.size = size
        self.seats: set[Seat] = set()
        self.false_starts = 0
        self._engines = engines
        self._limits = limits
        self._recycling = recycling
        self._listener = listener
        self._loop = asyncio.get_running_loop()
        self._dying: set[process.WorkerProcess] = set()
        self._inquiries = 0
        self._chunk = memoryview(bytearray(CHUNK))
        self._retry: asyncio.TimerHandle | None = None
        self._closed = False
        self._watch = self._loop.call_later(process.LOOK_AT_THREADS, self._look_at_threads)

    def _look_at_threads(self) -> None:
        """A worker in hostile hands may start threads until the machine has no room for more, also between calls."""
        self._watch = self._loop.call_later(process.LOOK_AT_THREADS, self._look_at_threads)
        for seat in self.seats:
            seat.process.look_at_threads()

    def replenish(self) -> None:
        """Have `size` workers that are not retiring. After a false start the next one waits, ever longer."""
        while not self._closed and self._short():
            if self.false_starts:
                if self._retry is None:
                    delay = min(SLOWEST_RETRY, 0.05 * 2**self.false_starts)
                    self._retry = self._loop.call_later(delay, self._try_again)
                return
            self._start()

    def _short(self) -> bool:
        return sum(not seat.retiring for seat in self.seats) < self.size

    def _try_again(self) -> None:
        self._retry = None
        if not self._closed and self._short():
            self._start()

    def _start(self) -> None:
        try:
            worker = process.start()
        except OSError as error:
            self._false_start(InternalError(f"no sandbox worker starts: {error.strerror}"))
            return
        worker.socket.setblocking(False)
        seat = Seat(Conversation(worker, self._limits))
        self.seats.add(seat)
        seat.look_at(self._loop.time() + STARTING, self._too_slow)
        self._loop.add_reader(worker.socket, self._readable, seat)
        self.send(seat, memoryview(seat.conversation.load(self._engines, self._recycling)))

    def _too_slow(self, seat: Seat) -> None:
        self.remove(seat)
        self._false_start(stillborn(seat.process, "did not become ready"))

    def _false_start(self, error: InternalError) -> None:
        self.false_starts += 1
        self._listener.on_false_start(error)
        self.replenish()

    def replaced(self) -> bool:
        """Whether a retiring worker may go."""
        return sum(seat.conversation.ready and not seat.retiring for seat in self.seats) >= self.size

    def send(self, seat: Seat, frame: memoryview) -> None:
        try:
            sent = seat.socket.send(frame)
        except BlockingIOError:
            sent = 0
        except OSError:  # it is gone: the reader sees the end of the stream
            return
        if sent < len(frame):
            seat.unsent = frame[sent:]
            self._loop.add_writer(seat.socket, self._writable, seat)

    def _writable(self, seat: Seat) -> None:
        self._loop.remove_writer(seat.socket)
        unsent, seat.unsent = seat.unsent, None
        if unsent is not None:
            self.send(seat, unsent)

    def _readable(self, seat: Seat) -> None:
        """Read until nothing is left: uvloop tells only once of a worker that died with calls lying ready."""
        while seat in self.seats:
            try:
                size = seat.socket.recv_into(self._chunk)
            except BlockingIOError:
                return
            except OSError:
                size = 0
            if not size:
                self._end_of_stream(seat)
                return
            try:
                self._hear(seat, self._chunk[:size])
            except ProtocolError as error:
                self.remove(seat)
                self._listener.on_lie(seat, error)
                self.replenish()

    def _hear(self, seat: Seat, chunk: memoryview) -> None:
        buffer = seat.conversation.buffer
        payload = buffer.feed(chunk)
        while payload is not None:
            reply = decode_reply(payload)
            if buffer.pending and len(seat.tray) < 2:
                raise ProtocolError("more than one reply")
            if seat.conversation.ready:
                self._listener.on_reply(seat, reply)
            else:
                self._welcome(seat, reply)
            payload = buffer.take() if seat in self.seats else None

    def _welcome(self, seat: Seat, reply: Reply) -> None:
        seat.conversation.greet(reply)
        seat.stop_timer()
        self.false_starts = 0
        self.replenish()
        self._listener.on_ready(seat)

    def _end_of_stream(self, seat: Seat) -> None:
        self._take_away(seat)
        self._listener.on_hang_up(seat)
        if seat.conversation.ready:
            self.replenish()
        self._inquiries += 1
        self._inquire(seat, self._loop.time() + LONGEST_INQUIRY)

    def _inquire(self, seat: Seat, until: float) -> None:
        """Find out what it died of; a process takes a moment longer to end than its socket."""
        if seat.process.reap():
            cause = seat.process.bury()
        elif self._loop.time() < until:
            self._loop.call_later(0.001, self._inquire, seat, until)
            return
        else:
            cause = process.OUTSIDE
            self._collect(seat.process)
        self._inquiries -= 1
        if seat.conversation.ready:
            self._listener.on_death(seat, cause)
        else:
            self._false_start(stillborn(seat.process, cause))

    def remove(self, seat: Seat) -> None:
        """Kill a worker. Its process is collected in the background."""
        self._take_away(seat)
        self._collect(seat.process)

    def _take_away(self, seat: Seat) -> None:
        self.seats.discard(seat)
        seat.stop_timer()
        seat.unsent = None
        self._loop.remove_reader(seat.socket)
        self._loop.remove_writer(seat.socket)
        seat.process.kill()

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
        """Kill and collect everyone."""
        self._closed = True
        self._watch.cancel()
        if self._retry is not None:
            self._retry.cancel()
        for seat in list(self.seats):
            self.remove(seat)
        while self._dying or self._inquiries:
            await asyncio.sleep(0.002)
