"""Somebody who means no harm and asks all the while: every answer must be right and come in time."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.webhook.server import Client, request

SPEC = {"components": [{"name": "players", "replicas": 2}]}


@dataclass
class Neighbour:
    """Asks /healthz and a script, over and over, each on a connection of its own, while the block lasts.

    `wrong` lists what went wrong; `worst` is the longest wait for each, for reports.
    """

    port: int
    bundle: Path
    wrong: list[str] = field(default_factory=list)
    answered: int = 0
    worst: dict[str, float] = field(default_factory=dict)
    _stop: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def __enter__(self) -> Neighbour:
        self._threads = [threading.Thread(target=self._ask, args=(what,)) for what in ("/healthz", "/interpret")]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _ask(self, what: str) -> None:
        client = Client(self.port, self.bundle)
        while not self._stop.is_set():
            started = time.monotonic()
            try:
                problem = self._healthz(client) if what == "/healthz" else self._interpret(client)
            except Exception as error:
                problem, client = repr(error), Client(self.port, self.bundle)
            if problem:
                self.wrong.append(f"{what}: {problem}")
            self.answered += 1
            self.worst[what] = max(self.worst.get(what, 0.0), time.monotonic() - started)
            self._stop.wait(0.01)

    def _healthz(self, client: Client) -> str:
        status, _ = client.get("/healthz")
        return "" if status == 200 else str(status)

    def _interpret(self, client: Client) -> str:
        response = client.interpret(request("lua", "InterpretComponent", uid="neighbour", **SPEC))
        return "" if response.get("components") == SPEC["components"] else str(response)


def resident(pid: int, field: str = "VmHWM") -> int:
    """Bytes of memory that a process had at most (`VmHWM`) or has (`VmRSS`)."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    return 0


def forget_peak(pid: int) -> None:
    """Let `VmHWM` begin anew from what the process has now."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")
