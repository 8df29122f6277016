"""Reading gives way to answers, but not for ever."""

from __future__ import annotations

import asyncio

from estimator.service.precedence import Precedence


async def test_nobody_waits_while_nothing_is_asked() -> None:
    async with asyncio.timeout(0):
        await Precedence().give_way()


async def test_reading_goes_on_when_the_last_answer_is_given() -> None:
    precedence = Precedence()
    order = []

    async def read() -> None:
        await precedence.give_way()
        order.append("read")

    with precedence.answering(), precedence.answering():
        reading = asyncio.create_task(read())
        await asyncio.sleep(0)
        order.append("answered")
    await reading
    assert order == ["answered", "read"]


async def test_a_steady_stream_of_questions_does_not_starve_the_reading() -> None:
    precedence = Precedence()
    with precedence.answering():
        async with asyncio.timeout(20):
            await precedence.give_way()
        for _ in range(10):
            async with asyncio.timeout(0):
                await precedence.give_way()
