"""What a sandbox has been through, as plain numbers for metrics."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct, field

from interpreters.sandbox.reputation import Quarantine


class SandboxStats(Struct, frozen=True):
    """A snapshot. `kills` are by reason: time, memory, threads, crash, lost, protocol, cancelled, start."""

    size: int
    ready: int
    starting: int
    busy: int
    waiting: int
    calls: int
    retries: int
    recycled: int
    kills: dict[str, int]
    quarantined: tuple[Quarantine, ...]


class Counters(Struct):
    """The running totals behind a snapshot."""

    calls: int = 0
    retries: int = 0
    recycled: int = 0
    kills: Counter[str] = field(default_factory=Counter)

    def snapshot(
        self, quarantined: tuple[Quarantine, ...], *, size: int, ready: int, starting: int, busy: int, waiting: int
    ) -> SandboxStats:
        return SandboxStats(
            size=size,
            ready=ready,
            starting=starting,
            busy=busy,
            waiting=waiting,
            calls=self.calls,
            retries=self.retries,
            recycled=self.recycled,
            kills=dict(self.kills),
            quarantined=quarantined,
        )
