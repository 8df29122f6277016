"""The threads that estimate: large questions wait for each other, so that a small one never waits for them.

An estimate cannot be stopped once it runs. It is bounded by what a question may hold (`bounds`), and one that nobody
waits for any more is not begun.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar, TypeVarTuple

from interpreters.core.errors import BusyError

A = TypeVarTuple("A")
T = TypeVar("T")

SMALL: Final = 16 * 1024
"""Bytes of a question that is small: dozens of components."""


class EstimateThreads:
    """Threads for small questions, and one for all large ones."""

    def __init__(self, threads: int) -> None:
        self._small = ThreadPoolExecutor(threads, "estimate")
        self._large = ThreadPoolExecutor(1, "large-estimate")

    async def run(self, size: int, deadline: float | None, work: Callable[[*A], T], *arguments: *A) -> T:
        """What `work` returns. Raises `BusyError` when it has not by the deadline, on the event loop's clock."""
        threads = self._small if size <= SMALL else self._large
        try:
            async with asyncio.timeout_at(deadline):
                return await asyncio.get_running_loop().run_in_executor(threads, work, *arguments)
        except TimeoutError:
            raise BusyError("the estimate was not made in the time for it; ask for less, or give more time") from None

    def close(self) -> None:
        for threads in (self._small, self._large):
            threads.shutdown(wait=False, cancel_futures=True)
