"""How much the server takes on at once: bytes of bodies held, and requests of one kind under way or waiting.

The sandbox pool bounds and orders the calls themselves; this bounds what piles up in front of it, so that neither large
bodies nor one slow kind can use up the room that the others need.
"""

from __future__ import annotations

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
        self._kinds: dict[GroupVersionKind, int] = {}

    def admit(self, size: int) -> None:
        """Hold a body of this size; `release` must follow. One is always let in, so that no size is refused forever."""
        if self.bytes and self.bytes + size > self.most_bytes:
            message = "the bodies of the requests under way fill the room for them; try again"
            raise HttpProblem(429, "busy", message, Retry_After="1")
        self.requests += 1
        self.bytes += size

    def release(self, size: int) -> None:
        self.requests -= 1
        self.bytes -= size

    def begin(self, kind: GroupVersionKind) -> None:
        """Count a request for this kind; `end` must follow. Raises `BusyError`."""
        under_way = self._kinds.get(kind, 0)
        if under_way >= self.most_of_a_kind:
            raise BusyError(f"{self.most_of_a_kind} requests for {kind} are under way or waiting already; try again")
        self._kinds[kind] = under_way + 1

    def end(self, kind: GroupVersionKind) -> None:
        left = self._kinds[kind] - 1
        if left:
            self._kinds[kind] = left
        else:
            del self._kinds[kind]
