"""Answers go first: what reads a cluster gives way, for a moment, while somebody waits for an estimate."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

_LONGEST_PAUSE: Final = 0.1
_STEPS_AFTER_IT: Final = 10  # so that a steady stream of requests does not starve the mirror they are answered from


@dataclass(slots=True)
class Precedence:
    """Counts the answers under way."""

    _waiting: int = 0
    _steps_owed: int = 0
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
        """Wait until nobody waits for an answer; after a long wait, some calls in a row return at once."""
        if not self._waiting:
            return
        if self._steps_owed:
            self._steps_owed -= 1
            return
        try:
            async with asyncio.timeout(_LONGEST_PAUSE):
                await self._idle.wait()
        except TimeoutError:
            self._steps_owed = _STEPS_AFTER_IT
