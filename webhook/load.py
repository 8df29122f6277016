"""How much the server takes on at once: bytes of bodies held, and requests of one kind under way or waiting.

The sandbox pool bounds and orders the calls themselves; this bounds what piles up in front of it, so that neither large
bodies nor one slow kind can use up the room that the others need.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from interpreters.core.errors import BusyError
from interpreters.core.kinds import GroupVersionKind
from webhook.bodies import HttpProblem


class Load:
    """Counts of the requests that are inside."""

    def __init__(self, most_bytes: int, most_of_a_kind: int) -> None:
        self.most_bytes = most_bytes
        self.most_of_a_kind = most_of_a_kind
        self.requests = 0
        self.bytes = 0
        self._kinds: Counter[GroupVersionKind] = Counter()

    @contextmanager
    def body(self, size: int) -> Iterator[None]:
        """Hold a body of this size. One body is always let in, so that a large one cannot be refused forever."""
        if self.bytes and self.bytes + size > self.most_bytes:
            message = "the bodies of the requests under way fill the room for them; try again"
            raise HttpProblem(429, "busy", message, Retry_After="1")
        self.requests += 1
        self.bytes += size
        try:
            yield
        finally:
            self.requests -= 1
            self.bytes -= size

    @contextmanager
    def kind(self, kind: GroupVersionKind) -> Iterator[None]:
        """Count a request for this kind."""
        if self._kinds[kind] >= self.most_of_a_kind:
            raise BusyError(f"{self.most_of_a_kind} requests for {kind} are under way or waiting already; try again")
        self._kinds[kind] += 1
        try:
            yield
        finally:
            self._kinds[kind] -= 1
            if not self._kinds[kind]:
                del self._kinds[kind]
