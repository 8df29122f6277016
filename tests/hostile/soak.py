"""Hostile load: mixed traffic of which 5 % are sandbox attacks, while every good request must be answered right and in
time. The tests run it shortly; `make soak` runs `python -m tests.hostile.soak` for a minute or as long as told.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from certs.folder import make_folder
from tests.hostile.neighbour import Neighbour
from tests.interpreters.sandbox.attacks import ATTACKS
from tests.webhook.server import KINDS, SCRIPTS, Client, Server, request

GROUP = "attack.example.org"
SHARE = 0.05
TIMEOUT = 5
COMPONENTS = [{"name": "players", "replicas": 2, "replicaRequirements": {"resourceRequest": {"cpu": "500m"}}}]
SUFFIX = {"lua": "lua", "starlark": "star"}


@dataclass
class Report:
    """What came of it. `wrong` lists good requests that were not answered right, and attacks not answered well."""

    good: int = 0
    attacks: Counter[int] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    slowest: float = 0.0
    worst: dict[str, float] = field(default_factory=dict)  # of a neighbour who asks all the while, by path


def write_attacks(folder: Path) -> int:
    """Every attack as the script of a kind of its own."""
    for number, attack in enumerate(ATTACKS):
        place = folder / GROUP / "v1" / f"Attack{number}"
        place.mkdir(parents=True)
        (place / f"interpreter.{SUFFIX[attack.language]}").write_text(attack.text)
    return len(ATTACKS)


def attack(number: int) -> dict[str, Any]:
    kind = f"Attack{number}"
    return {
        "uid": f"attack-{number}",
        "kind": {"group": GROUP, "version": "v1", "kind": kind},
        "name": "x",
        "operation": "InterpretReplica",
        "object": {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": {"name": "x"}},
    }


def bombard(server: Server, bundle: Path, attacks: int, seconds: float, threads: int = 8, seed: int = 1) -> Report:
    """Send for so long from so many connections."""
    report = Report()
    lock = threading.Lock()
    end = time.monotonic() + seconds

    def work(seed: int) -> None:
        chance = random.Random(seed)
        client = Client(server.port, bundle)
        while time.monotonic() < end:
            number = chance.randrange(attacks) if chance.random() < SHARE else None
            language = chance.choice(list(KINDS))
            asked = (
                request(language, "InterpretComponent", uid=str(chance.random()), components=COMPONENTS)
                if number is None
                else attack(number)
            )
            started = time.monotonic()
            try:
                response = client.interpret(asked, f"/interpret?timeout={TIMEOUT}s")
            except Exception as error:
                response = {"error": repr(error)}
                client = Client(server.port, bundle)
            with lock:
                note(report, number, response, time.monotonic() - started)

    workers = [threading.Thread(target=work, args=(seed * 1000 + number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return report


def note(report: Report, number: int | None, response: dict[str, Any], seconds: float) -> None:
    if seconds > TIMEOUT:
        report.wrong.append(f"took {seconds:.1f} s: {response}")
    if number is None:
        report.good += 1
        report.slowest = max(report.slowest, seconds)
        if response.get("components") != COMPONENTS:
            report.wrong.append(f"good request: {response}")
        return
    code = response.get("status", {}).get("code", 0)
    report.attacks[code] += 1
    if response.get("successful") is not False or code not in (404, 422, 429, 503):
        report.wrong.append(f"{ATTACKS[number].name}: {response}")


def run(seconds: float, workers: int = 4) -> Report:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_folder(folder, ["localhost"])
        attacks = write_attacks(folder / "attacks")
        flags = ["--scripts", str(SCRIPTS), "--scripts", str(folder / "attacks"), "--bundled-language", "none",
                 "--workers", str(workers)]  # fmt: skip
        with Server(folder, *flags) as server:
            with Neighbour(server.port, folder / "ca.crt") as neighbour:
                report = bombard(server, folder / "ca.crt", attacks, seconds)
            report.worst = neighbour.worst
            report.wrong += neighbour.wrong
            client = Client(server.port, folder / "ca.crt")
            ready = client.get("/readyz")[1]
            if not ready["ready"]:
                report.wrong.append(f"not ready afterwards: {ready}")
        return report


def main() -> int:
    parser = argparse.ArgumentParser(description="Hostile load against a real server on this machine.")
    parser.add_argument("--seconds", type=float, default=60.0)
    report = run(parser.parse_args().seconds)
    attacks = ", ".join(f"{count} with status {code}" for code, count in sorted(report.attacks.items()))
    print(f"{report.good} good requests, slowest {report.slowest * 1000:.0f} ms; attacks answered: {attacks}")
    for path, worst in sorted(report.worst.items()):
        print(f"a neighbour's worst wait for {path}: {worst * 1000:.0f} ms")
    for wrong in report.wrong[:20]:
        print(f"WRONG {wrong}", file=sys.stderr)
    return 1 if report.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
