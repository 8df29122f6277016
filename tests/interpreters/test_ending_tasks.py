"""A task is ended even if it takes a cancellation for an error and goes on."""

from __future__ import annotations

import asyncio

from interpreters.background import end_tasks


async def test_a_task_that_outlives_errors_is_ended() -> None:
    outlived = 0

    async def outlives() -> None:
        nonlocal outlived
        while True:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                if outlived:
                    raise
                outlived += 1

    tasks = [asyncio.create_task(outlives()), asyncio.create_task(asyncio.sleep(3600))]
    await asyncio.sleep(0)
    await end_tasks(tasks)
    assert [task.done() for task in tasks] == [True, True]
    assert outlived == 1


async def test_a_task_that_failed_before_is_no_trouble() -> None:
    async def fails() -> None:
        raise ValueError("long ago")

    task = asyncio.create_task(fails())
    await asyncio.sleep(0)
    await end_tasks([task])
    assert task.done()
