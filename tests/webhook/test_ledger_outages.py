"""A ledger whose database is not there, frozen or full: /admit fails in time and in the open, and nothing else does."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.postgres import PostgresServer
from tests.webhook.server import SCRIPTS, Client, Server, eventually, request
from tests.webhook.test_admit import QUOTA, decide, review

BUDGET = "/admit?timeout=2s"


def flags(folder: Path, ledger: str, quota: dict[str, Any] = QUOTA) -> list[str]:
    (folder / "quota.yaml").write_text(yaml.safe_dump(quota))
    return ["--scripts", str(SCRIPTS), "--bundled-language", "none", "--workers", "1",
            "--quotas", str(folder / "quota.yaml"), "--ledger", ledger]  # fmt: skip


def fails(client: Client, server: Server, name: str, *said: str) -> None:
    """An admission that nobody decided: told to the caller, the log, the metrics and both readiness endpoints."""
    before = client.metric("interp_admission_failures_total")
    status, problem = client.post(review(name, "1"), BUDGET)
    assert status == 503, problem
    assert any(word in problem["message"] for word in said), problem
    logged = server.wait_for("an admission was not decided", workload=f"Act.stage.example.org default/{name}")
    assert logged["reason"] == problem["message"]
    assert client.metric("interp_admission_failures_total") == before + 1
    assert client.get("/readyz/admit")[0] == 503
    status, ready = client.get("/readyz")
    assert (status, ready["checks"]["ledger"].startswith("degraded: ")) == (200, True), ready
    asked = request("starlark", "InterpretComponent", components=[{"name": "main", "replicas": 1}])
    assert client.interpret(asked)["successful"], "interpretation goes on"


def recovers(client: Client, name: str) -> None:
    assert eventually(lambda: client.post(review(name, "1"), BUDGET)[0] == 200)
    assert eventually(lambda: client.get("/readyz/admit")[0] == 200)
    assert client.get("/readyz")[1]["checks"]["ledger"] == "ok"


def test_a_server_starts_without_its_database_and_connects_when_it_comes(certs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "not yet"
    with Server(certs, *flags(tmp_path, f"sqlite:///{folder / 'ledger.db'}")) as server:
        client = Client(server.port, certs / "ca.crt")
        fails(client, server, "one", "unable to open database file")
        folder.mkdir()
        recovers(client, "two")


def test_a_frozen_database_is_noticed_within_the_callers_timeout_and_used_again_afterwards(
    certs: Path, tmp_path: Path
) -> None:
    with PostgresServer() as postgres, Server(certs, *flags(tmp_path, postgres.database())) as server:
        client = Client(server.port, certs / "ca.crt")
        assert decide(client, review("before", "1"))["allowed"]
        postgres.freeze()
        try:
            for number in range(3):
                fails(client, server, f"frozen-{number}", "did not answer", "timeout", "connection was closed")
        finally:
            postgres.thaw()
        recovers(client, "after")


def test_a_database_that_is_killed_and_comes_back_is_used_again(certs: Path, tmp_path: Path) -> None:
    with PostgresServer() as postgres, Server(certs, *flags(tmp_path, postgres.database())) as server:
        client = Client(server.port, certs / "ca.crt")
        assert decide(client, review("before", "1"))["allowed"]
        postgres.kill()
        fails(client, server, "gone", "onnect", "No such file")
        postgres.start()
        recovers(client, "after")


def test_sqlite_locked_by_somebody_else_is_noticed_in_time(certs: Path, tmp_path: Path) -> None:
    file = tmp_path / "ledger.db"
    with Server(certs, *flags(tmp_path, f"sqlite:///{file}")) as server:
        client = Client(server.port, certs / "ca.crt")
        assert decide(client, review("before", "1"))["allowed"]
        other = sqlite3.connect(file, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        fails(client, server, "locked", "did not answer", "locked")
        other.execute("ROLLBACK")
        other.close()
        recovers(client, "after")


@contextmanager
def small_disk(megabytes: float) -> Iterator[Path]:
    """A disk of its own that is soon full."""
    folder = Path(tempfile.mkdtemp(prefix="disk-", dir="/tmp"))
    size = f"size={megabytes * 1024:.0f}k"
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", size, "none", str(folder)], check=False)
    try:
        if mounted.returncode:
            pytest.skip("a disk that is soon full needs the right to mount one")
        yield folder
        subprocess.run(["umount", str(folder)], check=True)
    finally:
        folder.rmdir()


def fill(disk: Path) -> Path:
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while file.write(b"x" * 4096):
                continue
        except OSError:
            pass
    return filler


def is_told_of(disk: Path, certs: Path, server: Server) -> None:
    """Admissions fail in the open while the disk is full, and go on when it is not."""
    client = Client(server.port, certs / "ca.crt")
    assert decide(client, review("before", "1"))["allowed"]
    filler = fill(disk)
    names = (f"more-{number}" for number in count())
    assert eventually(lambda: client.post(review(next(names), "1", "DELETE"), BUDGET)[0] == 503)
    fails(client, server, "full", "full", "disk", "space")
    filler.unlink()
    assert eventually(lambda: client.post(review("after", "1"), BUDGET)[0] == 200)


@pytest.mark.skipif(shutil.which("mount") is None, reason="there is no mount")
def test_a_full_disk_is_told_by_sqlite(certs: Path, tmp_path: Path) -> None:
    with small_disk(0.5) as disk, Server(certs, *flags(tmp_path, f"sqlite:///{disk / 'ledger.db'}")) as server:
        is_told_of(disk, certs, server)


@pytest.mark.skipif(shutil.which("mount") is None, reason="there is no mount")
def test_a_full_disk_is_told_by_postgresql(certs: Path, tmp_path: Path) -> None:
    with (
        small_disk(128) as disk,
        PostgresServer(disk) as postgres,
        Server(certs, *flags(tmp_path, postgres.database())) as server,
    ):
        is_told_of(disk, certs, server)


def test_two_servers_on_one_postgresql_share_one_quota(certs: Path, tmp_path: Path) -> None:
    with PostgresServer() as postgres:
        url = postgres.database()
        with Server(certs, *flags(tmp_path, url)) as one, Server(certs, *flags(tmp_path, url)) as other:
            verdicts: list[bool] = []

            def ask(number: int) -> None:
                client = Client((one, other)[number % 2].port, certs / "ca.crt")
                verdicts.append(decide(client, review(f"rival-{number}", "3"))["allowed"])

            threads = [threading.Thread(target=ask, args=(number,)) for number in range(24)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    assert sorted(verdicts) == [False] * 21 + [True] * 3


def test_a_cold_ledger_is_told_when_the_quotas_status_knows_more(certs: Path, tmp_path: Path) -> None:
    warm = {**QUOTA, "status": {"overallUsed": {"cpu": "10"}}}
    with Server(certs, *flags(tmp_path, f"sqlite:///{tmp_path / 'ledger.db'}", warm)) as server:
        client = Client(server.port, certs / "ca.crt")
        said = eventually(lambda: client.get("/readyz")[1].get("warnings", {}).get("ledger"))
        assert said.startswith(
            "FederatedResourceQuota default/compute: its status says cpu 10 is used, the ledger knows 0"
        )
        assert server.wait_for("the ledger knows less than the quotas' status")
