"""Writing log lines without ever waiting for whoever reads them.

A pipe that is not read blocks its writer. So a thread of its own writes, from a queue of bounded size; what finds no
place there is dropped and counted, and the log says so as soon as somebody reads again.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from typing import Final

MOST_BYTES: Final = 4 * 1024 * 1024
_END_SECONDS: Final = 2.0


class LogWriter:
    """Takes lines and returns at once. `tell` makes the line that says how many were dropped."""

    def __init__(self, tell: Callable[[int], bytes], descriptor: int = 2, most: int = MOST_BYTES) -> None:
        self.dropped = 0
        self._tell = tell
        self._descriptor = descriptor
        self._most = most
        self._queue: deque[bytes] = deque()
        self._queued = 0
        self._untold = 0
        self._ending = False
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def write(self, lines: bytes) -> None:
        """Lines that end with a line break."""
        with self._changed:
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="log", daemon=True)
                self._thread.start()
            if self._queued + len(lines) > self._most:
                count = lines.count(b"\n")
                self.dropped += count
                self._untold += count
                return
            self._queue.append(lines)
            self._queued += len(lines)
            self._changed.notify()

    def close(self, seconds: float = _END_SECONDS) -> None:
        """Write what is left, for as long as that; a pipe that nobody reads keeps no process alive."""
        with self._changed:
            self._ending = True
            self._changed.notify()
            thread = self._thread
        if thread is not None:
            thread.join(seconds)
        with self._changed:
            if thread is None or not thread.is_alive():
                self._ending, self._thread = False, None  # whoever writes after all begins anew

    def _serve(self) -> None:
        while lines := self._next():
            self._write(lines)
            with self._changed:
                self._queued -= len(lines)
                untold, self._untold = self._untold, 0
            if untold:
                self._write(self._tell(untold))

    def _next(self) -> bytes:
        """What is to be written next; nothing at the end."""
        with self._changed:
            while not self._queue and not self._ending:
                self._changed.wait()
            return self._queue.popleft() if self._queue else b""

    def _write(self, lines: bytes) -> None:
        """Not by `sys.stderr`: its lock, held by a thread that waits, would keep the process from ending."""
        left = memoryview(lines)
        try:
            while left:
                left = left[os.write(self._descriptor, left) :]
        except OSError:
            pass  # a log that nobody can read any more must not fail anything
