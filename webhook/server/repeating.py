"""Work that a server does again and again in the background, whatever becomes of one turn."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import NoReturn

from interpreters.core.errors import InterpError
from webhook.server.logs import LOGGER


async def repeat(
    turn: Callable[[], Awaitable[None]],
    *,
    every: float,
    failing: str,
    level: int = logging.WARNING,
    retry: float | None = None,
) -> NoReturn:
    """Take a turn, sleep `every` seconds (`retry` after a failure), and so on.

    Says that it is `failing` when the reason changes, not at every turn: a database may be away for hours.
    """
    known: str | None = None
    while True:
        pause = every
        try:
            await turn()
            known = None
        except InterpError as error:
            if str(error) != known:
                LOGGER.log(level, failing, extra={"reason": str(error)})
            known, pause = str(error), retry or every
        except Exception:  # the next turn may do better; a task that ends here is missed by nobody
            LOGGER.exception(f"{failing}, through a mistake of ours")
            pause = retry or every
        await asyncio.sleep(pause)
