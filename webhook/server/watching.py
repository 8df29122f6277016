"""Noticing that files changed: a fingerprint decides, and inotify, where there is one, says when to look."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
from collections.abc import Awaitable, Callable, Iterable, Iterator
from pathlib import Path

from interpreters.core.errors import DocumentError
from interpreters.files import Fingerprint, fingerprint
from interpreters.folders import walk

_SETTLE_SECONDS = 0.1  # an editor or a rotation writes several files; look when it is done
_SAFETY_SECONDS = 30.0  # inotify sees nothing on some network file systems
_CLOSE_WRITE, _ATTRIB, _MOVED, _CREATE, _DELETE, _SELF = 0x8, 0x4, 0xC0, 0x100, 0x200, 0xC00
_FLAGS = os.O_NONBLOCK | os.O_CLOEXEC


def fingerprint_below(paths: Iterable[str]) -> Fingerprint:
    """Of every file below these paths."""
    return fingerprint(sorted(set(_files(paths))))


class Watcher:
    """Calls back, once per change and never twice at a time, when the fingerprint of some paths differs."""

    def __init__(
        self, paths: Iterable[str], seen: Fingerprint, changed: Callable[[], Awaitable[None]], *, poll: float | None
    ) -> None:
        """`seen` is the fingerprint of what is loaded; `poll` looks every so many seconds instead of using inotify."""
        self._paths = list(paths)
        self._seen = seen
        self._changed = changed
        self._notify = None if poll else _Inotify.open()
        self._interval = poll or (_SAFETY_SECONDS if self._notify else 2.0)

    async def run(self) -> None:
        """Until cancelled."""
        woken = asyncio.Event()
        loop = asyncio.get_running_loop()
        if self._notify:
            loop.add_reader(self._notify.descriptor, self._notify.drain, woken)
        try:
            while True:
                await asyncio.to_thread(self._watch_folders)
                now = await asyncio.to_thread(fingerprint_below, self._paths)
                if now != self._seen:
                    self._seen = now
                    await self._changed()
                await self._settled(woken)
        finally:
            if self._notify:
                loop.remove_reader(self._notify.descriptor)
                self._notify.close()

    async def _settled(self, woken: asyncio.Event) -> None:
        try:
            async with asyncio.timeout(self._interval):
                await woken.wait()
        except TimeoutError:
            return
        while woken.is_set():
            woken.clear()
            await asyncio.sleep(_SETTLE_SECONDS)

    def _watch_folders(self) -> None:
        if self._notify:
            for folder in _folders(self._paths):
                self._notify.watch(folder)


class _Inotify:
    """The three system calls; Python's library has none of them."""

    def __init__(self, library: ctypes.CDLL, descriptor: int) -> None:
        self._library = library
        self.descriptor = descriptor

    @classmethod
    def open(cls) -> _Inotify | None:
        library = ctypes.CDLL(None, use_errno=True)
        if not hasattr(library, "inotify_init1"):
            return None
        descriptor = library.inotify_init1(_FLAGS)
        return cls(library, descriptor) if descriptor >= 0 else None

    def watch(self, folder: str) -> None:
        mask = _CLOSE_WRITE | _ATTRIB | _MOVED | _CREATE | _DELETE | _SELF
        self._library.inotify_add_watch(self.descriptor, os.fsencode(folder), mask)

    def drain(self, woken: asyncio.Event) -> None:
        woken.set()
        try:
            while os.read(self.descriptor, 65536):
                pass
        except BlockingIOError:
            pass

    def close(self) -> None:
        os.close(self.descriptor)


def _files(paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        if not _is_folder(path):
            yield path
            continue
        yield from (f"{folder}/{name}" for folder, names in _walked(path) for name in names)


def _folders(paths: Iterable[str]) -> set[str]:
    """Every folder to listen at; a file is watched through its folder, since it may be replaced."""
    found: set[str] = set()
    for path in paths:
        if _is_folder(path):
            found.update(folder for folder, _ in _walked(path))
        found.add(str(Path(path).parent))
    return found


def _is_folder(path: str) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 - its pathlib twin raises where this may not look


def _walked(path: str) -> Iterator[tuple[str, list[str]]]:
    """Hidden folders too: what changes in a ConfigMap's `..data` is a change. Past its bounds a folder is no longer
    watched; reading it fails there too, and says so."""
    with contextlib.suppress(DocumentError):
        yield from walk(Path(path), hidden=True)
