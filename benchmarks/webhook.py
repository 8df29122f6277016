"""The first recorded request over HTTPS, keep-alive, server and client on one machine, in both languages."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from certs.folder import make_folder

ROOT = Path(__file__).parents[1]
RECORDINGS = ROOT / "tests/recordings/webhook-requests.json"
SECONDS = 4.0
PROCESSES = 2
BUDGET_ONE_CONNECTION_MICROSECONDS = 600.0
BUDGET_EIGHT_CONNECTIONS_RATE = 3500.0

Row = tuple[str, float, str, float | None]


@contextmanager
def served(folder: Path, language: str) -> Iterator[int]:
    """A server with the bundled scripts of one language; the port it listens on."""
    command = [
        sys.executable, "-m", "interp", "serve", "--port", "0", "--bundled-language", language,
        "--processes", str(PROCESSES),
        "--workers", "1", "--certificate", str(folder / "tls.crt"), "--key", str(folder / "tls.key"),
    ]  # fmt: skip
    log = folder / f"{language}.log"
    with log.open("w") as errors, subprocess.Popen(command, stderr=errors) as server:
        try:
            yield _port(log, server)
        finally:
            server.terminate()


def _port(log: Path, server: subprocess.Popen[bytes]) -> int:
    while server.poll() is None:
        listening = [json.loads(line) for line in log.read_text().splitlines() if '"listening"' in line]
        if len(listening) == PROCESSES:
            return int(listening[0]["url"].rpartition(":")[2])
    raise RuntimeError(log.read_text())


def drive(port: int, folder: Path, connections: int, seconds: float) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks._https_load", str(port), str(folder / "ca.crt"), str(folder / "body")]
    done = subprocess.run([*command, str(connections), str(seconds)], capture_output=True, check=True, cwd=ROOT)
    figures: dict[str, float] = json.loads(done.stdout)
    if figures["failures"]:
        raise RuntimeError(f"{figures['failures']:.0f} requests failed")
    return figures


def run() -> Iterable[Row]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_folder(folder, ["localhost"])
        (folder / "body").write_text(json.loads(RECORDINGS.read_text())[0]["request"]["body"])
        for language in ("lua", "starlark"):
            with served(folder, language) as port:
                drive(port, folder, 8, 1.0)
                for connections in (1, 8, 64):
                    yield from _rows(language, connections, drive(port, folder, connections, SECONDS))


def _rows(language: str, connections: int, figures: dict[str, float]) -> Iterator[Row]:
    budgeted = language == "lua"
    where = f"{language}, {connections} connection{'s' if connections > 1 else ''}"
    rate_budget = BUDGET_EIGHT_CONNECTIONS_RATE if budgeted and connections == 8 else None
    median_budget = BUDGET_ONE_CONNECTION_MICROSECONDS if budgeted and connections == 1 else None
    yield f"{where}: answers", figures["rate"], "/s", rate_budget
    yield f"{where}: median", figures["p50"] * 1e6, "µs", median_budget
    yield f"{where}: 99th percentile", figures["p99"] * 1e6, "µs", None
