"""Which call runs next and where: the workers of one author and the calls they are given, one event at a time.

Calls wait in a fair queue, are sent to idle workers, or are pipelined behind what a worker runs. What becomes of a call
whose worker is lost is decided in retry_policy.py.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from interpreters.core.engine import Limits, Outcome
from interpreters.core.errors import InternalError, InterpError, LimitError
from interpreters.sandbox.calls import (
    Recycling,
    Task,
    input_too_large,
    ran_out_of_memory,
    ran_out_of_time,
    result_of,
)
from interpreters.sandbox.fair_queue import PendingCalls, closing
from interpreters.sandbox.messages import ProtocolError, Ready, Reply
from interpreters.sandbox.pipeline import SLACK, SMALL, STALLED, Job
from interpreters.sandbox.reputation import ConcurrencyLimit, Reputations, digest_of
from interpreters.sandbox.retry_policy import Retry, RetryPolicy
from interpreters.sandbox.stats import Counters
from interpreters.sandbox.workers import PooledWorker, Workers

ABANDONED = 0.05
"""Seconds a worker may go on with a call nobody waits for any more: most are done before a new worker would be up."""


class Dispatch(Workers):
    """Workers and the calls given to them."""

    def __init__(
        self,
        size: int,
        engines: Mapping[str, str],
        limits: Limits,
        recycling: Recycling,
        *,
        max_waiting: int,
        reputations: Reputations,
        counters: Counters,
    ) -> None:
        super().__init__(size, engines, limits, recycling)
        self.hardening: dict[str, str] = {}
        self.first_ready: asyncio.Future[None] = self._loop.create_future()
        self._reputations = reputations
        self._counters = counters
        self._retry_policy = RetryPolicy(reputations, counters, self._loop.time)
        self._concurrency = ConcurrencyLimit(size)
        self._pending = PendingCalls(max_waiting)
        self._idle: list[PooledWorker] = []

    @property
    def waiting(self) -> int:
        """Calls that no worker has begun."""
        return len(self._pending) + sum(max(0, len(worker.pipeline) - 1) for worker in self.pooled)

    async def close(self) -> None:
        if not self.first_ready.done():
            self.first_ready.set_exception(closing())
        self._pending.close()
        for job in [job for worker in self.pooled for job in worker.pipeline]:
            job.fail(closing())
        self._idle.clear()
        await super().close()

    async def run(self, task: Task) -> Outcome | frozenset[str]:
        """Have it run, now or when its turn comes. Raises `InterpError`."""
        size = sum(map(len, task.arguments))
        if size > task.limits.input:
            raise input_too_large(task, size)
        now = self._loop.time()
        reputation = self._reputations.check(task, now)
        job = Job(task, reputation, digest_of(task.script), size, self._loop.create_future())
        self._counters.calls += 1
        may_begin = not self._pending.queue.length and self._concurrency.admits(job, now)
        if may_begin and (worker := self._worker_for(job, now)):
            self._send_call(worker, job, now)
        else:
            self._pending.admit(job)
            self._serve()
        try:
            return await job.future
        except asyncio.CancelledError:
            self._abandon(job)
            raise

    def _serve(self) -> None:
        """Find workers for the calls whose turn it is."""
        now = self._loop.time()
        while (job := self._pending.queue.first(self._concurrency, now)) and (worker := self._worker_for(job, now)):
            self._pending.take(job)
            try:
                self._reputations.check(job.task, now)
            except InterpError as error:
                job.fail(error)
                self._return_unused(worker)
            else:
                self._send_call(worker, job, now)

    def _worker_for(self, job: Job, now: float) -> PooledWorker | None:
        """An idle worker; else the least loaded of those in whose pipeline the call may wait.

        A call that may not be pipelined stays first in the queue and nothing overtakes it, so a worker is soon free.
        """
        task = job.task
        has_time = task.deadline is None or task.deadline - now > task.limits.seconds + SLACK
        is_usual = job.size <= SMALL and task.limits == self.limits
        job.fast = has_time and is_usual and job.reputation.is_fast(now)
        if self._idle:
            return self._idle.pop()
        if not job.fast:
            return None
        having_room = [
            worker for worker in self.pooled
            if worker.pipeline.has_room(now) and not worker.retiring and worker.unsent is None
        ]  # fmt: skip
        return min(having_room, key=lambda worker: len(worker.pipeline), default=None)

    def _send_call(self, worker: PooledWorker, job: Job, now: float) -> None:
        try:
            frame, job.seconds, job.kill_after = worker.connection.call(job.task, now)
        except InterpError as error:
            job.fail(error)
            self._return_unused(worker)
            return
        worker.pipeline.append(job)
        if len(worker.pipeline) == 1:
            self._begin(worker, now)
        else:
            worker.wake_at(worker.pipeline.began + STALLED, self._on_timer)
        self.send(worker, memoryview(frame))

    def _return_unused(self, worker: PooledWorker) -> None:
        if not worker.pipeline:
            self._idle.append(worker)

    def _begin(self, worker: PooledWorker, now: float) -> None:
        """The worker runs the first call of its pipeline from now on."""
        pipeline = worker.pipeline
        job = pipeline[0]
        pipeline.began = now
        if not job.future.done():
            pipeline.abandoned_since = None
            worker.due = now + job.kill_after
        else:
            if pipeline.abandoned_since is None:
                pipeline.abandoned_since = now
            worker.due = pipeline.abandoned_since + ABANDONED
        self._concurrency.begin(job, now)
        if worker.due < worker.wakes_at:  # else the timer of an earlier call comes first, and sets the next
            worker.wake_at(worker.due, self._on_timer)

    def _on_timer(self, worker: PooledWorker) -> None:
        """A call that is overdue is killed; calls pipelined behind one that takes long are run elsewhere."""
        pipeline = worker.pipeline
        if not pipeline:
            return
        now = self._loop.time()
        if now >= worker.due:
            self._expire(worker)
            return
        stalls = pipeline.began + STALLED
        if now < stalls and len(pipeline) > 1:
            worker.wake_at(stalls, self._on_timer)
            return
        worker.wake_at(worker.due, self._on_timer)
        if len(pipeline) > 1:
            pipeline[0].reputation.fast_answers = 0
            self._take_back(worker)
            self._serve()

    def _take_back(self, worker: PooledWorker) -> None:
        for job in reversed(worker.pipeline.take_back()):
            if not job.future.done():
                self._pending.add(job, first=True)

    def _abandon(self, job: Job) -> None:
        """Its caller is gone."""
        self._pending.discard(job)
        soon = self._loop.time() + ABANDONED
        for worker in self.pooled:
            if worker.pipeline and worker.pipeline[0] is job and worker.due > soon:
                worker.due = soon
                worker.wake_at(soon, self._on_timer)

    def _expire(self, worker: PooledWorker) -> None:
        self._take_back(worker)
        job = self._finish(worker)
        self._replace(worker)
        self._retry_policy.timed_out(job)
        self._serve()

    def _replace(self, worker: PooledWorker) -> None:
        self.remove(worker)
        self.replenish()

    def _finish(self, worker: PooledWorker) -> Job:
        """The running call is over, one way or another."""
        job = worker.pipeline.popleft()
        self._concurrency.end(job)
        return job

    def on_ready(self, worker: PooledWorker) -> None:
        self.hardening = worker.connection.hardening
        if not self.first_ready.done():
            self.first_ready.set_result(None)
        if job := self._pending.take_for_new_worker():
            job.fast = False
            self._send_call(worker, job, self._loop.time())
        else:
            self._on_idle(worker)
        for old in [idle for idle in self._idle if idle.retiring]:
            self._idle.remove(old)
            self._on_idle(old)

    def on_reply(self, worker: PooledWorker, reply: Reply) -> None:
        if not worker.pipeline:
            raise ProtocolError("a reply to nothing")
        if isinstance(reply, Ready):
            raise ProtocolError("a reply to something else")
        job = worker.pipeline[0]
        result = result_of(job.task, reply, job.seconds)
        connection = worker.connection
        connection.answered += 1
        if reply.heavy:
            self._on_heavy_reply(worker, result)
            return
        worker.pipeline.popleft()
        self._concurrency.end(job)
        self._deliver(job, result)
        if connection.answered >= connection.most_calls and not worker.retiring:
            worker.retiring = True
            self.replenish()
        if worker.pipeline:
            self._begin(worker, self._loop.time())
            if self._pending.queue.length:
                self._serve()
        else:
            self._on_idle(worker)

    def _on_heavy_reply(self, worker: PooledWorker, result: Outcome | frozenset[str] | InterpError) -> None:
        """The worker holds so much memory that it is replaced."""
        self._take_back(worker)
        job = self._finish(worker)
        self._replace(worker)
        retry = self._retry_policy.heavy_reply(job, result, used=worker.connection.answered > 1)
        if retry is Retry.NONE and isinstance(result, LimitError):
            job.fail(result)
        elif retry is Retry.NONE:
            self._deliver(job, result)
        self._retry_or_serve(job, retry)

    def _deliver(self, job: Job, result: Outcome | frozenset[str] | InterpError) -> None:
        if isinstance(result, InterpError):
            job.fail(result)
        elif not job.future.done():
            job.future.set_result(result)
        if isinstance(result, Outcome):
            job.reputation.note_reply(result.seconds)
        elif ran_out_of_memory(result) or (ran_out_of_time(result) and job.task.has_full_time(job.seconds)):
            self._reputations.make_suspect(job.reputation, self._loop.time())
        else:
            job.reputation.note_reply()

    def _retry_or_serve(self, job: Job | None, retry: Retry) -> None:
        """Run a call again whose worker is lost, if so decided, and then serve those that wait."""
        if job is not None and retry is not Retry.NONE:
            self._counters.retries += 1
            if retry is Retry.ANY_WORKER:
                self._pending.add(job, first=True)
            else:
                self._pending.add_for_new_worker(job)
        self._serve()

    def _on_idle(self, worker: PooledWorker) -> None:
        """A worker has nothing to do: it retires if its successor is ready, else it serves the next call."""
        if worker.retiring and self.replaced():
            self._counters.recycled += 1
            self.remove(worker)
        else:
            self._idle.append(worker)
        if self._pending.queue.length:
            self._serve()

    def on_disconnect(self, worker: PooledWorker) -> None:
        self._vacate(worker)
        self._serve()

    def _vacate(self, worker: PooledWorker) -> None:
        if worker in self._idle:
            self._idle.remove(worker)
        self._take_back(worker)

    def on_bad_reply(self, worker: PooledWorker, error: ProtocolError) -> None:
        self._vacate(worker)
        job = self._finish(worker) if worker.pipeline else None
        self._retry_or_serve(job, self._retry_policy.bad_reply(job, error, used=worker.connection.answered > 0))

    def on_exit(self, worker: PooledWorker, cause: str) -> None:
        job = self._finish(worker) if worker.pipeline else None
        self._retry_or_serve(job, self._retry_policy.worker_died(job, cause, used=worker.connection.answered > 0))

    def on_start_failed(self, error: InternalError) -> None:
        self._counters.kills["start"] += 1
        if not self.first_ready.done():
            self.first_ready.set_exception(error)
        if not any(worker.connection.ready for worker in self.pooled):
            self._pending.fail_all(error)
