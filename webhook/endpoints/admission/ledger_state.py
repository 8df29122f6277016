"""Whether the ledger can be written: it is opened when its database comes, and probed for those who ask."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import Final

from estimator.accounting.ledger.ledger import Ledger
from interpreters.core.errors import InterpError
from webhook.server.logs import LOGGER

_FIRST_WAIT: Final = 0.5
_LONGEST_WAIT: Final = 15.0
_PROBE_EVERY: Final = 5.0
_PROBE_SECONDS: Final = 1.5
_REMEMBERED: Final = 30.0  # how long a failed write counts, whatever smaller ones succeed after it


@dataclass(slots=True)
class LedgerState:
    """The ledger as /admit finds it. Run `open` as a task."""

    ledger: Ledger
    problem: str | None = "the ledger is not open yet"
    is_open: asyncio.Event = field(default_factory=asyncio.Event)
    _failed: tuple[float, str] | None = None
    _probed_at: float = float("-inf")
    _probing: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Open the ledger, again and again until it works: the server is there before its database."""
        wait = _FIRST_WAIT
        while True:
            try:
                await self.ledger.open()
            except InterpError as error:
                if str(error) != self.problem:
                    LOGGER.error("the ledger cannot be opened; /admit fails until it can", extra={"reason": str(error)})
                self.problem = str(error)
                await asyncio.sleep(wait)
                wait = min(wait * 2, _LONGEST_WAIT)
            else:
                break
        if wait > _FIRST_WAIT:
            LOGGER.info("the ledger is open")
        self.problem = None
        self.is_open.set()

    def note(self, failure: str | None) -> None:
        """Hear how an admission went."""
        self._failed = None if failure is None else (time.monotonic(), failure)

    async def check(self) -> str | None:
        """What is wrong with the ledger, found out by writing to it; None when nothing is."""
        if not self.is_open.is_set():
            return self.problem
        if self._probing is None and (self.problem or time.monotonic() - self._probed_at >= _PROBE_EVERY):
            self._probing = asyncio.create_task(self._probe())
        if self._probing is not None:
            # Not cancelled when it takes long: whoever asks next waits for the same one.
            done, _ = await asyncio.wait({self._probing}, timeout=_PROBE_SECONDS)
            if not done:
                return f"the ledger did not answer within {_PROBE_SECONDS:g} s"
            self._probing = None
        if self.problem is None and self._failed and time.monotonic() - self._failed[0] < _REMEMBERED:
            return self._failed[1]
        return self.problem

    async def _probe(self) -> None:
        try:
            await self.ledger.note_moment("probe", seconds=_PROBE_SECONDS)
        except InterpError as error:
            self.problem = str(error)
        else:
            self.problem = None
        self._probed_at = time.monotonic()
