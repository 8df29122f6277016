"""Writing in groups: what waits for the ledger while a transaction runs shares the next one.

Synchronising to disk costs the same for one decision as for fifty, and so does asking the database. A namespace is in
one transaction at a time; several transactions run beside each other where the database can.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

from estimator.accounting.demand import WorkloadKey
from estimator.accounting.ledger.database import MOST_SECONDS, LedgerError
from estimator.accounting.ledger.namespace_page import Page

Answer = TypeVar("Answer")
_MOST_TOGETHER: Final = 64


@dataclass(frozen=True, slots=True)
class Task(Generic[Answer]):
    """Something to do on a page: read it, change it, and answer."""

    workload: WorkloadKey
    run: Callable[[Page], Awaitable[Answer]]
    request: str = ""
    """The uid of the request it serves, to find what was decided about it before."""


@dataclass(slots=True)
class _Waiting:
    task: Task[Any]
    answer: asyncio.Future[Any]
    due: float


Work = Callable[[Sequence[Task[Any]], float], Awaitable[list[Any]]]
"""Does several tasks in one transaction within so many seconds; their answers once it is committed."""


@dataclass(slots=True)
class WriteQueue:
    """Tasks in line for the ledger."""

    work: Work
    most_at_once: int
    """How many transactions run beside each other."""

    _line: list[_Waiting] = field(default_factory=list)
    _busy: set[str] = field(default_factory=set)  # namespaces that a transaction has
    _workers: set[asyncio.Task[None]] = field(default_factory=set)
    _running: int = 0

    async def submit(self, task: Task[Answer], seconds: float | None = None) -> Answer:
        """The task's answer once it is written. Raises `LedgerError`, at the latest after that many seconds."""
        bound = MOST_SECONDS if seconds is None else seconds
        loop = asyncio.get_running_loop()
        waiting = _Waiting(task, loop.create_future(), loop.time() + bound)
        self._line.append(waiting)
        if self._running < self.most_at_once:
            self._running += 1
            worker = asyncio.create_task(self._serve())
            self._workers.add(worker)
            worker.add_done_callback(self._workers.discard)
        try:
            async with asyncio.timeout(bound):
                answer: Answer = await waiting.answer
                return answer
        except TimeoutError:
            raise LedgerError(f"the ledger did not answer within {bound:.1f} s") from None

    async def close(self) -> None:
        """Let what is under way end."""
        await asyncio.gather(*self._workers, return_exceptions=True)

    async def _serve(self) -> None:
        try:
            while batch := self._next():
                namespaces = {waiting.task.workload.namespace for waiting in batch}
                self._busy |= namespaces
                try:
                    await self._settle(batch)
                finally:
                    self._busy -= namespaces
        finally:
            self._running -= 1  # here and not when the task is done: by then a newcomer may have relied on it

    def _next(self) -> list[_Waiting]:
        """Those in line whose namespace is free, in order; whoever gave up is left out."""
        batch: list[_Waiting] = []
        rest: list[_Waiting] = []
        for waiting in self._line:
            if waiting.answer.done():
                continue
            is_free = waiting.task.workload.namespace not in self._busy and len(batch) < _MOST_TOGETHER
            (batch if is_free else rest).append(waiting)
        self._line = rest
        return batch

    async def _settle(self, batch: list[_Waiting]) -> None:
        seconds = max(waiting.due for waiting in batch) - asyncio.get_running_loop().time()
        try:
            answers = await self._work_again([waiting.task for waiting in batch], seconds)
        except LedgerError as error:
            self._fail(batch, error)
        except Exception as error:
            if len(batch) == 1:
                self._fail(batch, error)
                return
            for waiting in batch:  # only whose task it is shall suffer from it
                await self._settle([waiting])
        else:
            for waiting, answer in zip(batch, answers, strict=True):
                if not waiting.answer.done():
                    waiting.answer.set_result(answer)

    async def _work_again(self, tasks: Sequence[Task[Any]], seconds: float) -> list[Any]:
        """Once more if the connection turned out to be gone: a database that was restarted is there again. What was
        committed before the connection broke is found as decided."""
        until = asyncio.get_running_loop().time() + seconds
        try:
            return await self.work(tasks, seconds)
        except LedgerError as error:
            left = until - asyncio.get_running_loop().time()
            if not error.is_disconnected or left <= 0.1:
                raise
            return await self.work(tasks, left)

    @staticmethod
    def _fail(batch: Sequence[_Waiting], error: Exception) -> None:
        for waiting in batch:
            if not waiting.answer.done():
                waiting.answer.set_exception(error)
