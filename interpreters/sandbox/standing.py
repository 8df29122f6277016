"""What each script has done to its workers so far: proven, suspect or in quarantine. Pure: told the time, never asks.

A script is known by its digest, so a changed text starts afresh.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from functools import lru_cache
from math import inf
from typing import TypeVar

from msgspec import Struct

from interpreters.core.engine import Script
from interpreters.core.errors import QuarantinedError

V = TypeVar("V")

BRISK = 0.002
"""Seconds within which a script answers that need not be waited for."""

REMEMBERED = 10_000
"""Digests kept in each book; the oldest is forgotten first."""


@lru_cache(maxsize=1024)
def digest_of(script: Script) -> str:
    """The script's digest, without hashing its text on every call."""
    return script.digest


class Sentence(Struct, frozen=True):
    """A script in quarantine: what it lost its workers to, most frequent reason first."""

    script: str
    losses: int
    reasons: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        reasons = ", ".join(f"{count} by {reason}" for reason, count in self.reasons)
        return f"in quarantine: it lost {self.losses} workers ({reasons}) and is tried again when its text changes"


class Standings:
    """The books. `losses` workers lost within `window` seconds put a script in quarantine; 0 switches that off."""

    def __init__(self, losses: int = 3, window: float = 300.0) -> None:
        self.losses = losses
        self.window = window
        self.quarantined: OrderedDict[str, Sentence] = OrderedDict()
        self._lost: OrderedDict[str, list[tuple[float, str]]] = OrderedDict()
        self._suspect_until: OrderedDict[str, float] = OrderedDict()
        self._proven: OrderedDict[str, float] = OrderedDict()

    def check(self, script: Script, function: str) -> None:
        if self.quarantined and (sentence := self.quarantined.get(digest_of(script))):
            raise QuarantinedError(str(sentence), script=script.name, function=function or None)

    def prove(self, digest: str, seconds: float = inf) -> None:
        """It answered in time, after so many seconds as far as is known."""
        if digest in self._proven:
            self._proven[digest] = seconds
        else:
            _remember(self._proven, digest, seconds)

    def proven(self, digest: str) -> bool:
        return digest in self._proven

    def brisk(self, digest: str, now: float) -> bool:
        """It answered at once the last time, and has done no harm of late."""
        return self._proven.get(digest, inf) <= BRISK and not self.suspect(digest, now)

    def suspect(self, digest: str, now: float) -> bool:
        """It used up its time, or lost a worker, not long ago."""
        until = self._suspect_until.get(digest) if self._suspect_until else None
        if until is not None and until < now:
            del self._suspect_until[digest]
            return False
        return until is not None

    def strike(self, digest: str, now: float) -> None:
        """It used all of its time; its worker survived."""
        _remember(self._suspect_until, digest, now + self.window)

    def lose(self, script: Script, reason: str, now: float) -> None:
        """It lost a worker."""
        digest = digest_of(script)
        self.strike(digest, now)
        recent = [entry for entry in self._lost.get(digest, ()) if entry[0] > now - self.window]
        recent.append((now, reason))
        _remember(self._lost, digest, recent)
        if self.losses and len(recent) >= self.losses:
            reasons = tuple(Counter(name for _, name in recent).most_common())
            _remember(self.quarantined, digest, Sentence(script.name, len(recent), reasons))


def _remember(book: OrderedDict[str, V], digest: str, entry: V) -> None:
    book[digest] = entry
    book.move_to_end(digest)
    if len(book) > REMEMBERED:
        book.popitem(last=False)
