"""kill -9 at any moment loses no acknowledged decision, leaves no half charge, and several processes share one quota.

The client keeps its own record of what it was told; afterwards the ledger must agree with it. What was asked and never
answered may have happened or not, but wholly: a charge with its decision, or neither.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from estimator.accounting.demand import WorkloadKey
from estimator.accounting.ledger.ledger import Ledger
from estimator.quotas.amounts import texts
from tests.estimator.accounting.samples import book, demand
from tests.postgres import PostgresServer

ROOT = Path(__file__).parents[3]
LIMIT = "40"


class Client:
    """Talks to server processes and remembers what each of them answered."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.asked: set[str] = set()
        self.answers: dict[str, str] = {}
        self.listeners: dict[int, threading.Thread] = {}

    def start(self) -> subprocess.Popen[str]:
        server = subprocess.Popen(
            [sys.executable, "-m", "tests.estimator.accounting.crashing_server", self.url, LIMIT],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT,
        )  # fmt: skip
        assert server.stdout is not None
        assert server.stdout.readline() == "ready\n"
        self.listeners[server.pid] = threading.Thread(target=self._listen, args=(server,), daemon=True)
        self.listeners[server.pid].start()
        return server

    def end(self, server: subprocess.Popen[str]) -> None:
        """Let the server finish what it was asked, and hear it out."""
        assert server.stdin is not None
        server.stdin.close()
        assert server.wait(60) == 0
        self.listeners[server.pid].join(60)

    def ask(self, server: subprocess.Popen[str], name: str) -> None:
        assert server.stdin is not None
        self.asked.add(name)
        try:
            server.stdin.write(f"{name} 1\n")
            server.stdin.flush()
        except BrokenPipeError:
            return

    def _listen(self, server: subprocess.Popen[str]) -> None:
        assert server.stdout is not None
        for line in server.stdout:
            if line.endswith("\n"):
                self.answers[line[1:-1]] = line[0]

    def wait(self, count: int) -> None:
        until = time.monotonic() + 60
        while len(self.answers) < count and time.monotonic() < until:
            time.sleep(0.01)


async def compare(client: Client) -> None:
    async with Ledger(client.url) as ledger:
        charged = {charge.workload.name async for charge in ledger.charges("team-a")}
        decided = {line.workload.name: line.allowed async for line in ledger.decisions("team-a")}
        async with ledger.page("team-a") as page:
            stored = await page.used()
        summed = await ledger.used("team-a")
    told = {sign: {name for name, answer in client.answers.items() if answer == sign} for sign in "+-!"}
    assert told["+"], "the test must have seen some decisions"
    assert told["+"] <= charged, "an acknowledged charge is lost"
    assert not told["-"] & charged, "a denied workload is charged"
    assert all(decided[name] is (name in told["+"]) for name in told["+"] | told["-"]), "a decision is lost"
    assert charged == {name for name, allowed in decided.items() if allowed}, "a charge without its decision"
    assert charged <= client.asked
    assert stored == summed, "half a charge"
    assert texts(stored)["cpu"] == str(len(charged)) and len(charged) <= int(LIMIT)


async def test_of_64_clients_of_four_processes_racing_for_the_last_cpu_exactly_one_gets_it(ledger_url: str) -> None:
    async with Ledger(ledger_url) as ledger:
        for number in range(int(LIMIT) - 1):
            await book(ledger, WorkloadKey("", "Pod", "team-a", f"before-{number}"), demand(("main", 1, {"cpu": "1"})))
    client = Client(ledger_url)
    servers = [client.start() for _ in range(4)]
    for number in range(64):
        client.ask(servers[number % 4], f"racer-{number}")
    for server in servers:
        client.end(server)
    assert sorted(client.answers.values()) == ["+", *["-"] * 63]


async def test_killing_the_server_in_a_loop_loses_nothing(ledger_url: str) -> None:
    async with Ledger(ledger_url):
        pass  # the schema is there before the first server
    client, dice = Client(ledger_url), random.Random(1)
    for life in range(5):
        server = client.start()
        before = len(client.answers)
        for number in range(12):
            client.ask(server, f"job-{life}-{number}")
        client.wait(before + dice.randint(1, 8))
        server.send_signal(signal.SIGKILL)
        server.wait()
    server = client.start()
    for number in range(12):
        client.ask(server, f"last-{number}")
    client.end(server)
    await compare(client)


async def test_killing_postgresql_in_a_loop_loses_nothing() -> None:
    with PostgresServer() as postgres:
        client, dice = Client(postgres.database()), random.Random(2)
        async with Ledger(client.url):
            pass
        server = client.start()
        for life in range(4):
            before = len(client.answers)
            for number in range(15):
                client.ask(server, f"job-{life}-{number}")
            client.wait(before + dice.randint(2, 9))
            postgres.kill()
            postgres.start()
            client.wait(before + 15)
            assert len(client.answers) == before + 15, "every request is answered, if only with an error"
        client.end(server)
        await compare(client)
