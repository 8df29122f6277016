"""Work beside the event loop's: what is too large for it goes to a few threads, and tasks are ended for good.

An answer of a thread is awaited no longer than its deadline. The work itself must be bounded, since a thread cannot be
stopped. The threads are few, which bounds what they hold.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar, TypeVarTuple

from interpreters.core.errors import BusyError

A = TypeVarTuple("A")
T = TypeVar("T")

SMALL: Final = 128 * 1024
"""Bytes of JSON that the event loop may well look at itself: some milliseconds. Hardly any object has more."""

_AGAIN_SECONDS: Final = 1.0


class Background:
    """Runs small work at once and large work in a thread."""

    def __init__(self, threads: int = 2) -> None:
        self._executor = ThreadPoolExecutor(threads, "background")

    async def run(self, size: int, deadline: float | None, work: Callable[[*A], T], *arguments: *A) -> T:
        """What `work` returns. `size` is how many bytes it will look at. Raises `BusyError` at the deadline."""
        if size <= SMALL:
            return work(*arguments)
        try:
            async with asyncio.timeout_at(deadline):
                return await asyncio.get_running_loop().run_in_executor(self._executor, work, *arguments)
        except TimeoutError:
            raise BusyError("large requests are being worked on, and the time for this one is up; try again") from None

    def close(self) -> None:
        """Begin nothing more; what is under way ends by itself."""
        self._executor.shutdown(wait=False, cancel_futures=True)


async def end_tasks(tasks: Collection[asyncio.Task[Any]]) -> None:
    """Cancel tasks until they have ended.

    Once is not enough: a database driver may answer a cancellation with an error of its own, and a loop that outlives
    errors then goes on.
    """
    pending = {task for task in tasks if not task.done()}
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=_AGAIN_SECONDS)
    await asyncio.gather(*tasks, return_exceptions=True)
