"""How much the server takes on at once: bytes of bodies and answers, and requests of one kind under way or waiting.

The sandbox pool bounds and orders the calls themselves; this bounds what piles up in front of it and behind it, so that
neither large bodies, nor answers that nobody reads, nor one slow kind can use up the room that the others need.
"""

from __future__ import annotations

from msgspec import Struct

from interpreters.core.errors import BusyError
from interpreters.core.kinds import GroupVersionKind
from webhook.server.problems import HttpProblem

SMALL = 256 * 1024
"""Bytes of a body that is not large: hardly any custom resource is."""


class Load:
    """Counts of the requests that are inside."""

    def __init__(self, most_bytes: int, most_of_a_kind: int) -> None:
        self.most_bytes = most_bytes
        self.most_of_a_kind = most_of_a_kind
        self.requests = 0
        self.bytes = 0
        self._kinds: dict[GroupVersionKind, int] = {}

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


class Room(Struct):
    """What one request or answer takes of the room for bodies: bytes that are here, not those it says will come.
    `leave` must follow."""

    load: Load
    held: int = 0

    def hold(self, size: int) -> None:
        """So many bytes more (or less). One request is always let in, so that no size is refused forever; large ones
        leave a quarter of the room to the small. Raises `HttpProblem`."""
        load = self.load
        most = load.most_bytes if self.held + size <= SMALL else load.most_bytes // 4 * 3
        if load.bytes > self.held and load.bytes + size > most:
            message = "the bodies of requests and answers under way fill the room for them; try again"
            raise HttpProblem(429, "busy", message, Retry_After="1")
        self.held += size
        load.bytes += size

    def leave(self) -> None:
        self.load.bytes -= self.held
