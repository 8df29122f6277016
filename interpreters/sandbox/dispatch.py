"""Who runs next and where: the pool's decisions, one event at a time.

Calls wait in a fair queue, are sent to idle workers, or are pipelined behind what a worker runs. workers.py tells what
the workers send and why they end; what then becomes of a call is decided in retry_policy.py.
"""

from __future__ import annotations

import asyncio

from interpreters.core.engine import Limits
from interpreters.core.errors import InternalError, InterpError
from interpreters.sandbox.calls import no_worker_in_time, result_of
from interpreters.sandbox.fair_queue import ConcurrencyLimit
from interpreters.sandbox.messages import ProtocolError, Ready, Reply
from interpreters.sandbox.pending_calls import PendingCalls, closing
from interpreters.sandbox.pipeline import SLACK, SMALL, STALLED, Job
from interpreters.sandbox.reputation import Reputations
from interpreters.sandbox.retry_policy import Retry, RetryPolicy
from interpreters.sandbox.stats import Counters
from interpreters.sandbox.workers import PooledWorker, Workers

ABANDONED = 0.05
"""Seconds a worker may go on with a call nobody waits for any more: most are done before a new worker would be up."""


class Dispatch:
    """One for the life of a pool's workers. `workers` is set before the first event."""

    workers: Workers

    def __init__(
        self, size: int, limits: Limits, max_waiting: int, reputations: Reputations, counters: Counters
    ) -> None:
        self.size = size
        self.limits = limits
        self.reputations = reputations
        self.hardening: dict[str, str] = {}
        self._counters = counters
        self._loop = asyncio.get_running_loop()
        self.first_ready: asyncio.Future[None] = self._loop.create_future()
        self._retry_policy = RetryPolicy(reputations, counters, self._loop.time)
        self._concurrency = ConcurrencyLimit(size, reputations)
        self._pending = PendingCalls(max_waiting, reputations)
        self._idle: list[PooledWorker] = []

    @property
    def waiting(self) -> int:
        """Calls that no worker has begun."""
        return len(self._pending) + sum(max(0, len(worker.pipeline) - 1) for worker in self.workers.pooled)

    async def close(self) -> None:
        if not self.first_ready.done():
            self.first_ready.set_exception(closing())
        self._pending.close()
        for job in [job for worker in self.workers.pooled for job in worker.pipeline]:
            job.fail(closing())
        self._idle.clear()
        await self.workers.close()

    def submit(self, job: Job) -> None:
        """Have it run, now or when its turn comes. Raises `BusyError`."""
        now = self._loop.time()
        any_queued = self._pending.any_queued
        if not any_queued and self._concurrency.admits(job.digest, now) and (worker := self._worker_for(job, now)):
            self._send(worker, job, now)
        else:
            self._pending.admit(job)
            self._serve()

    def _serve(self) -> None:
        """Find workers for the calls whose turn it is."""
        now = self._loop.time()
        while (job := self._pending.first(self._concurrency, now)) and (worker := self._worker_for(job, now)):
            self._pending.take(job)
            try:
                self.reputations.check(job.task, now)
            except InterpError as error:
                job.fail(error)
                self._return_unused(worker)
            else:
                self._send(worker, job, now)

    def _worker_for(self, job: Job, now: float) -> PooledWorker | None:
        """An idle worker; else the least loaded of those in whose pipeline the call may wait.

        A call that may not be pipelined stays first in the queue and nothing overtakes it, so a worker is soon free.
        """
        job.fast = self._may_pipeline(job, now)
        if self._idle:
            return self._idle.pop()
        if not job.fast:
            return None
        having_room = [
            worker for worker in self.workers.pooled
            if worker.pipeline.has_room(now) and not worker.retiring and worker.unsent is None
        ]  # fmt: skip
        return min(having_room, key=lambda worker: len(worker.pipeline), default=None)

    def _may_pipeline(self, job: Job, now: float) -> bool:
        task = job.task
        has_full_time = task.deadline is None or task.deadline - now > task.limits.seconds + SLACK
        usual = task.limits == self.limits and sum(map(len, task.arguments)) <= SMALL
        return has_full_time and usual and self.reputations.is_fast(job.digest, now)

    def _send(self, worker: PooledWorker, job: Job, now: float) -> None:
        job.seconds = job.task.seconds(now)
        try:
            if job.seconds <= 0:
                raise no_worker_in_time()
            job.kill_after = worker.connection.kill_after(job.task, job.seconds, now)
            frame = worker.connection.call(job.task, job.seconds)
        except InterpError as error:
            job.fail(error)
            self._return_unused(worker)
            return
        worker.pipeline.put(job)
        if len(worker.pipeline) == 1:
            self._begin(worker, now)
        else:
            worker.wake_at(worker.pipeline.began + STALLED, self._on_timer)
        self.workers.send(worker, memoryview(frame))

    def _return_unused(self, worker: PooledWorker) -> None:
        if not worker.pipeline:
            self._idle.append(worker)

    def _begin(self, worker: PooledWorker, now: float) -> None:
        """The worker runs the first call of its pipeline from now on."""
        job = worker.pipeline.begin(now)
        self._concurrency.enter(job, now)
        abandoned = worker.pipeline.abandoned_since
        worker.due = now + job.kill_after if abandoned is None else abandoned + ABANDONED
        worker.wake_at(worker.due, self._on_timer)

    def _on_timer(self, worker: PooledWorker) -> None:
        """A call that is overdue is killed; calls pipelined behind one that takes long are run elsewhere."""
        if not worker.pipeline:
            return
        now = self._loop.time()
        if now >= worker.due:
            self._expire(worker)
            return
        stalls = worker.pipeline.began + STALLED
        if now < stalls and len(worker.pipeline) > 1:
            worker.wake_at(stalls, self._on_timer)
            return
        worker.wake_at(worker.due, self._on_timer)
        if len(worker.pipeline) > 1 and (running := worker.pipeline.running):
            self.reputations.note_slow(running.digest)
            self._take_back(worker)
            self._serve()

    def _take_back(self, worker: PooledWorker) -> None:
        for job in reversed(worker.pipeline.take_back()):
            if not job.future.done():
                self._pending.add(job, first=True)

    def abandon(self, job: Job) -> None:
        """Its caller is gone."""
        self._pending.discard(job)
        soon = self._loop.time() + ABANDONED
        for worker in self.workers.pooled:
            if worker.pipeline.running is job and worker.due > soon:
                worker.due = soon
                worker.wake_at(soon, self._on_timer)

    def _expire(self, worker: PooledWorker) -> None:
        self._take_back(worker)
        job = self._finish(worker)
        self._replace(worker)
        self._retry_policy.timed_out(job)
        self._serve()

    def _replace(self, worker: PooledWorker) -> None:
        self.workers.remove(worker)
        self.workers.replenish()

    def _finish(self, worker: PooledWorker) -> Job:
        """The running call is over, one way or another."""
        job = worker.pipeline.finish()
        self._concurrency.leave(job)
        return job

    def on_ready(self, worker: PooledWorker) -> None:
        self.hardening = worker.connection.hardening
        if not self.first_ready.done():
            self.first_ready.set_result(None)
        if job := self._pending.take_for_new_worker():
            job.fast = False
            self._send(worker, job, self._loop.time())
        else:
            self._on_idle(worker)
        for old in [idle for idle in self._idle if idle.retiring]:
            self._idle.remove(old)
            self._on_idle(old)

    def on_reply(self, worker: PooledWorker, reply: Reply) -> None:
        job = worker.pipeline.running
        if job is None:
            raise ProtocolError("a reply to nothing")
        if isinstance(reply, Ready):
            raise ProtocolError("a reply to something else")
        result = result_of(job.task, reply, job.seconds)
        used = worker.connection.answered > 0
        worker.connection.answered += 1
        if reply.heavy:
            self._take_back(worker)
            self._finish(worker)
            self._replace(worker)
            self._retry_or_serve(job, self._retry_policy.heavy_reply(job, result, used=used))
            return
        self._finish(worker)
        self._retry_policy.reply(job, result)
        if worker.connection.spent and not worker.retiring:
            worker.retiring = True
            self.workers.replenish()
        if worker.pipeline:
            self._begin(worker, self._loop.time())
            if self._pending.any_queued:
                self._serve()
        else:
            self._on_idle(worker)

    def _retry_or_serve(self, job: Job | None, what: Retry) -> None:
        """Run a call again whose worker is lost, if so decided, and then serve those that wait."""
        if job is not None and what is not Retry.NONE:
            self._counters.retries += 1
            if what is Retry.ANY_WORKER:
                self._pending.add(job, first=True)
            else:
                self._pending.add_for_new_worker(job)
        self._serve()

    def _on_idle(self, worker: PooledWorker) -> None:
        """A worker has nothing to do: it retires if its successor is ready, else it serves the next call."""
        if worker.retiring and self.workers.replaced():
            self._counters.recycled += 1
            self.workers.remove(worker)
        else:
            self._idle.append(worker)
        if self._pending.any_queued:
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
        job = self._finish_running(worker)
        self._retry_or_serve(job, self._retry_policy.bad_reply(job, error, used=worker.connection.answered > 0))

    def on_exit(self, worker: PooledWorker, cause: str) -> None:
        job = self._finish_running(worker)
        self._retry_or_serve(job, self._retry_policy.worker_died(job, cause, used=worker.connection.answered > 0))

    def _finish_running(self, worker: PooledWorker) -> Job | None:
        return self._finish(worker) if worker.pipeline else None

    def on_start_failed(self, error: InternalError) -> None:
        self._counters.kills["start"] += 1
        if not self.first_ready.done():
            self.first_ready.set_exception(error)
        if not any(worker.connection.ready for worker in self.workers.pooled):
            self._pending.fail_all(error)
