"""Whether workers are confined is told wherever somebody may look; `requireHardening` does not start without."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from click.testing import CliRunner

from interp.verbs.doctor import command as doctor
from interpreters.core.engine import MIB
from interpreters.sandbox.hardening import WALLS, hardening_report
from interpreters.sandbox.runner import SandboxRunner
from tests.interpreters.sandbox.surroundings import PROBE, probe
from tests.webhook.server import SCRIPTS, Client, Server

FLAGS = ["--scripts", str(SCRIPTS), "--bundled-language", "none", "--workers", "1"]
LESS_THAN_A_WORKER_MAY_HAVE = 400 * MIB


def gaps() -> tuple[str, ...]:
    """What a worker that was started here lacks, without a server."""
    with SandboxRunner(engines=PROBE) as runner:
        runner.call(probe(), "echo", [])
        return hardening_report(runner.hardening()).gaps


def started(certs: Path, before: Callable[[], None], *flags: str) -> subprocess.CompletedProcess[str]:
    """A server that is expected to end by itself."""
    arguments = [
        "--port",
        "0",
        "--certificate",
        str(certs / "tls.crt"),
        "--key",
        str(certs / "tls.key"),
        *FLAGS,
        *flags,
    ]
    return subprocess.run(
        [sys.executable, "-m", "interp", "serve", *arguments],
        capture_output=True, text=True, timeout=60, check=False, preexec_fn=before,
    )  # fmt: skip


def test_a_server_that_requires_hardening_does_not_start_without(certs: Path) -> None:
    """A limit that the workers cannot set is one wall less on any machine, whoever runs the tests."""

    def lower() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (LESS_THAN_A_WORKER_MAY_HAVE, LESS_THAN_A_WORKER_MAY_HAVE))

    done = started(certs, lower, "--require-hardening")
    assert done.returncode == 2
    assert "requireHardening: " in done.stderr
    assert "limits: refused by the kernel: DATA" in done.stderr
    assert '"listening"' not in done.stderr


def test_what_confines_the_workers_is_in_log_readyz_metrics_and_doctor(certs: Path) -> None:
    missing = gaps()
    lacking = {gap.partition(": ")[0] for gap in missing}
    with Server(certs, *FLAGS) as server:
        assert set(WALLS) <= set(server.wait_for("hardening"))
        client = Client(server.port, certs / "ca.crt")
        status, ready = client.get("/readyz")
        assert status == 200, "what is missing is told, it is no reason not to serve"
        assert set(ready["hardening"]) == set(WALLS)
        assert ready.get("warnings", {}).get("hardening", "") == "; ".join(missing)
        for wall in WALLS:
            assert client.metric("interp_hardening", wall=wall) == (wall not in lacking)
        url = f"https://localhost:{server.port}/interpret"
        result = CliRunner().invoke(doctor, [url, "--ca", str(certs / "ca.crt"), "--bundled-language", "none"])
        (line,) = [line for line in result.output.splitlines() if " hardening: " in line]
        assert line.startswith("warning" if missing else "ok")
        assert all(gap in line for gap in missing)


def test_a_server_that_requires_hardening_starts_where_all_walls_stand(certs: Path) -> None:
    """Who runs the tests as root lacks one: then it is this one that keeps the server from starting."""
    missing = gaps()
    if missing:
        assert f"requireHardening: {'; '.join(missing)}" in started(certs, lambda: None, "--require-hardening").stderr
        return
    with Server(certs, *FLAGS, "--require-hardening") as server:
        assert Client(server.port, certs / "ca.crt").get("/readyz")[1]["ready"]
