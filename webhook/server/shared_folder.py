"""The folder where server processes of one supervisor keep metrics; the last of them removes it, even after SIGKILL.

Everyone who uses a folder holds a shared lock on it; only who gets the exclusive lock may remove it. The kernel drops
the locks of processes that are gone, so no process id has to be trusted.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

PREFIX: Final = "interp-processes-"


@contextmanager
def own_folder() -> Iterator[str]:
    """A new folder, for the supervisor. Those of supervisors that were killed are removed first."""
    _remove_abandoned()
    path, lock = _make()
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(lock)


@contextmanager
def joined_folder(path: str) -> Iterator[None]:
    """Use the supervisor's folder, for a server process. Without a supervisor the last to leave removes it."""
    lock = _hold(path)
    try:
        yield
    finally:
        if lock is not None:
            _remove_unless_used(path, lock)


def _make() -> tuple[str, int]:
    while True:
        path = tempfile.mkdtemp(prefix=PREFIX)
        # Until it is locked another supervisor may take it for an abandoned one; then there is just another one made.
        lock = _hold(path)
        if lock is not None:
            return path, lock


def _hold(path: str) -> int | None:
    """The lock of one who uses a folder; None if there is no such folder any more."""
    lock = _opened(path)
    if lock is None:
        return None
    fcntl.flock(lock, fcntl.LOCK_SH)
    if _is_at(path, lock):
        return lock
    os.close(lock)
    return None


def _remove_abandoned() -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        lock = _opened(str(folder))
        if lock is not None:
            _remove_unless_used(str(folder), lock)


def _remove_unless_used(path: str, lock: int) -> None:
    """Remove a folder if nobody else holds its lock; closes the lock."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        pass
    else:
        if _is_at(path, lock):
            shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(lock)


def _opened(path: str) -> int | None:
    """Our own folder, opened; nobody else's, and nothing that only looks like a folder."""
    with suppress(OSError):
        lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        if os.fstat(lock).st_uid == os.geteuid():
            return lock
        os.close(lock)
    return None


def _is_at(path: str, lock: int) -> bool:
    """Whether the path still names the folder that was opened."""
    try:
        return os.path.samestat(Path(path).lstat(), os.fstat(lock))
    except FileNotFoundError:
        return False
