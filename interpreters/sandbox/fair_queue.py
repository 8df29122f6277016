"""Who runs next: one queue a script, served in turn, and a bound on the workers that suspect scripts may use.

So a script that uses up its time on every call uses at most half of the workers.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar

from interpreters.sandbox.reputation import Reputations


class Waiter(Protocol):
    """What is queued: known by the digest of its script."""

    digest: str
    suspect: bool


W = TypeVar("W", bound=Waiter)


class ConcurrencyLimit:
    """Counts the running calls and says which script may run one more. Suspect scripts share half of the workers; a
    script that has not replied yet may use half by itself."""

    def __init__(self, size: int, reputations: Reputations) -> None:
        self.half = max(1, size // 2)
        self._reputations = reputations
        self._running: Counter[str] = Counter()
        self._suspects_running = 0

    def admits(self, digest: str, now: float) -> bool:
        if self._reputations.is_suspect(digest, now):
            return self._suspects_running < self.half
        return self._reputations.has_replied(digest) or self._running[digest] < self.half

    def enter(self, waiter: Waiter, now: float) -> None:
        self._running[waiter.digest] += 1
        waiter.suspect = self._reputations.is_suspect(waiter.digest, now)
        self._suspects_running += waiter.suspect

    def leave(self, waiter: Waiter) -> None:
        self._running[waiter.digest] -= 1
        if not self._running[waiter.digest]:
            del self._running[waiter.digest]
        self._suspects_running -= waiter.suspect


class FairQueue(Generic[W]):
    """First in, first out within a script; scripts in turn."""

    def __init__(self) -> None:
        self._lines: OrderedDict[str, deque[W]] = OrderedDict()
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[W]:
        for line in self._lines.values():
            yield from line

    def length_of(self, digest: str) -> int:
        return len(self._lines.get(digest, ()))

    def add(self, waiter: W, *, first: bool = False) -> None:
        line = self._lines.setdefault(waiter.digest, deque())
        (line.appendleft if first else line.append)(waiter)
        self._length += 1

    def discard(self, waiter: W) -> None:
        line = self._lines.get(waiter.digest)
        if line is not None and waiter in line:
            line.remove(waiter)
            self._length -= 1
            if not line:
                del self._lines[waiter.digest]

    def first(self, concurrency: ConcurrencyLimit, now: float) -> W | None:
        """The next to run: the first waiter of the first script that the limit admits."""
        for digest, line in self._lines.items():
            if concurrency.admits(digest, now):
                return line[0]
        return None

    def take(self, waiter: W) -> None:
        """The first of its script has its turn; the script's next one comes after those of the others."""
        line = self._lines[waiter.digest]
        line.popleft()
        self._length -= 1
        if line:
            self._lines.move_to_end(waiter.digest)
        else:
            del self._lines[waiter.digest]
