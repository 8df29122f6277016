"""Worker processes as their parent sees them: how one is started, killed, reaped, and why it ended.

Kept free of heavy imports, so that the command line can start a worker before it imports anything else.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import socket
import sys
import time
from collections.abc import Sequence

_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # noqa: PTH100, PTH120 - pathlib is slow to import
_BOOT = (
    "import sys; sys.modules['typing_extensions'] = None; "  # msgspec then takes typing's own, twice as fast to import
    "import os; os.closerange(4, 65536); sys.path += [entry for entry in {path!r} if entry not in sys.path]; "
    "import msgspec; del sys.modules['typing_extensions']; "
    "from interpreters.sandbox.worker import main; main({parent}, {preload!r})"
)
MEMORY, KILLED_OUTSIDE = "memory", "killed from outside"
MOST_THREADS = 64
"""Of a worker. Go's runtime has less than ten, Lua none; no filter can count them, so the parent looks."""

TOO_MANY_THREADS = f"started more than {MOST_THREADS} threads and was killed"
LOOK_AT_THREADS = 0.05
"""Seconds between two looks."""

_FOLDER_LINKS = 2  # of an empty folder

_STDERR_BYTES = 4096
_OUT_OF_MEMORY = (
    b"out of memory",
    b"cannot allocate memory",
    b"MemoryError",
    b"not enough memory",
    b"C malloc failed",  # Go, copying text for the binding
    b"makeslice: ",  # Go, asked for a list larger than the address space
    b"pthread_create failed",  # Go, whose next thread finds no room for its stack under the limit
)


class WorkerProcess:
    """One worker: its process id, the parent's end of its socket, the pipe from its standard error."""

    __slots__ = ("_errors", "_status", "_too_many_threads", "pid", "socket", "stderr_tail")

    def __init__(self, pid: int, ours: socket.socket, errors: int) -> None:
        self.pid = pid
        self.socket = ours
        self.stderr_tail = ""
        self._errors = errors
        self._status: int | None = None
        self._too_many_threads = False

    def kill(self) -> None:
        """The process is gone soon after; `reap` must follow. Harmless when it is gone already."""
        if self._status is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def reap(self) -> bool:
        """Collect the process if it has ended. True once it is gone."""
        if self._status is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:
                pid, status = self.pid, 0
            if pid == 0:
                return False
            self._status = status
        return True

    def look_at_threads(self) -> None:
        """Kill it if it has more threads than any runtime needs. Where there is no /proc this is not known."""
        with contextlib.suppress(OSError):
            folder = os.stat(f"/proc/{self.pid}/task")  # noqa: PTH116 - pathlib is slow to import
            if self._status is None and folder.st_nlink - _FOLDER_LINKS > MOST_THREADS:
                self._too_many_threads = True
                self.kill()

    def wait(self, seconds: float) -> bool:
        """Reap, waiting up to so long."""
        until = time.monotonic() + seconds
        pause = 0.0002
        while not self.reap():
            if time.monotonic() > until:
                return False
            time.sleep(pause)
            pause = min(pause * 2, 0.02)
        return True

    def exit_cause(self) -> str:
        """After `reap`: close what is left. MEMORY, TOO_MANY_THREADS, KILLED_OUTSIDE, or how it crashed."""
        stderr = b""
        with contextlib.suppress(OSError):
            stderr = os.read(self._errors, _STDERR_BYTES)
        self.close()
        self.stderr_tail = stderr.decode(errors="replace").strip().rpartition("\n")[2][:200]
        if self._too_many_threads:
            return TOO_MANY_THREADS
        if any(sign in stderr for sign in _OUT_OF_MEMORY):
            return MEMORY
        code = os.waitstatus_to_exitcode(self._status or 0)
        if code == -signal.SIGKILL:
            return KILLED_OUTSIDE
        return f"crashed with {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"

    def close(self) -> None:
        """Let go of the descriptors."""
        self.socket.close()
        if self._errors >= 0:
            os.close(self._errors)
            self._errors = -1


def start(preload: Sequence[str] = ()) -> WorkerProcess:
    """Start a worker without waiting for it. `preload` names modules it imports while it waits for its first frame.

    The worker ends with the *thread* that starts it, as far as the kernel is concerned: call this from a thread that
    stays.
    """
    ours, theirs = socket.socketpair()
    read_errors, write_errors = os.pipe()
    low = [theirs.fileno(), write_errors]
    high = [fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10) for descriptor in low]
    try:
        os.set_blocking(read_errors, False)
        os.set_blocking(high[1], False)  # a dump larger than the pipe is lost, instead of holding the worker up
        path = [_ROOT, *(entry for entry in sys.path if entry.startswith("/") and entry != _ROOT)]
        boot = _BOOT.format(path=path, parent=os.getpid(), preload=list(preload))
        pid = os.posix_spawn(
            sys.executable,
            [sys.executable, "-I", "-S", "-X", "utf8", "-c", boot],
            _environment(),
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_DUP2, high[1], 2),
                (os.POSIX_SPAWN_DUP2, high[0], 3),
            ],
            setpgroup=0,  # Ctrl-C at a terminal is the parent's business
            setsigmask=(),
            setsigdef=(signal.SIGINT, signal.SIGTERM, signal.SIGCHLD, signal.SIGALRM),
        )
    except BaseException:
        ours.close()
        os.close(read_errors)
        raise
    finally:
        theirs.close()
        for descriptor in (write_errors, *high):
            os.close(descriptor)
    return WorkerProcess(pid, ours, read_errors)


def _environment() -> dict[str, str]:
    """Nothing of the parent's. Times are UTC everywhere. Go writes one line instead of a dump when it crashes,
    and collects garbage seldom (a fifth of a call's time otherwise) until it holds more than a call may use."""
    go = {"GOTRACEBACK": "none", "GOMAXPROCS": "2", "GOGC": "400", "GOMEMLIMIT": "300MiB"}
    return {"TZ": "UTC0", "LC_ALL": "C.UTF-8"} | go
