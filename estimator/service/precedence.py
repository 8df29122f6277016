"""Answers go first: what reads a cluster gives way, for a moment, while somebody waits for an estimate."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

_LONGEST_PAUSE: Final = 0.02  # so that a steady stream of requests does not starve the picture they are answered from


@dataclass(slots=True)
class Precedence:
    """Counts the answers under way."""

    _waiting: int = 0
    _idle: asyncio.Event = field(default_factory=asyncio.Event)

    @contextmanager
    def answering(self) -> Iterator[None]:
        self._waiting += 1
        self._idle.clear()
        try:
            yield
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._idle.set()

    async def give_way(self) -> None:
        if self._waiting:
            with suppress(TimeoutError):
                async with asyncio.timeout(_LONGEST_PAUSE):
                    await self._idle.wait()
