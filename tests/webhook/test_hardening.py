"""Whether workers are confined is told wherever somebody may look; `requireHardening` does not start without."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import site
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner

import interp
from interp.verbs.doctor import command as doctor
from interpreters.core.engine import MIB
from interpreters.sandbox.hardening import WALLS, hardening_report
from interpreters.sandbox.runner import SandboxRunner
from tests.interpreters.sandbox.surroundings import PROBE, probe
from tests.webhook.server import SCRIPTS, Client, Server, request

FLAGS = ["--scripts", str(SCRIPTS), "--bundled-language", "none", "--workers", "1"]
PACKAGES = {"PYTHONPATH": os.pathsep.join([str(Path(interp.__file__).parents[1]), site.getsitepackages()[0]])}
LESS_THAN_A_WORKER_MAY_HAVE = 400 * MIB


def gaps() -> tuple[str, ...]:
    """What a worker that was started here lacks, without a server."""
    with SandboxRunner(engines=PROBE) as runner:
        runner.call(probe(), "echo", [])
        return hardening_report(runner.hardening()).gaps


def started(certs: Path, first: str, *flags: str) -> subprocess.CompletedProcess[str]:
    """A server that is expected to end by itself; `first` is what its program does before anything else."""
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
        [sys.executable, "-c", f"{first}\nfrom interp.__main__ import main\nmain()", "serve", *arguments],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_a_server_that_requires_hardening_does_not_start_without(certs: Path) -> None:
    """A limit that the workers cannot set is one wall less on any machine, whoever runs the tests."""

    most = LESS_THAN_A_WORKER_MAY_HAVE
    lowered = f"import resource; resource.setrlimit(resource.RLIMIT_DATA, ({most}, {most}))"
    done = started(certs, lowered, "--require-hardening")
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


def python_for(user: int) -> str:
    """A Python that this user may run, of the version that our packages are built for: ours, or the system's. Skips
    where there is neither, as with a Python below /root."""
    for python in (sys.executable, f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}"):
        with contextlib.suppress(OSError):
            if not subprocess.run(
                [python, "-c", "import interp, lupa"],
                user=user,
                env=PACKAGES,
                cwd="/",
                capture_output=True,
                check=False,
            ).returncode:
                return python
    pytest.skip(f"neither {sys.executable} nor the system's Python can be run by user {user}")


def given_to(user: int, certs: Path, folder: Path) -> Path:
    """A copy of the certificates that this user may read."""
    for name in ("tls.crt", "tls.key", "ca.crt"):
        shutil.copy(certs / name, folder / name)
        os.chown(folder / name, user, -1)
    for place in (folder, *folder.parents):  # pytest's folders are closed to others
        if place == Path(tempfile.gettempdir()):
            break
        place.chmod(place.stat().st_mode | 0o011)
    return folder


def test_a_server_that_requires_hardening_starts_where_all_walls_stand(certs: Path, tmp_path: Path) -> None:
    missing = [gap for gap in gaps() if not gap.startswith("notRoot")]
    if missing:
        pytest.skip(f"this system lacks {'; '.join(missing)}")
    user, python = None, sys.executable
    if os.geteuid() == 0:
        assert "requireHardening: notRoot" in started(certs, "", "--require-hardening").stderr
        user = pwd.getpwnam("nobody").pw_uid
        python, certs = python_for(user), given_to(user, certs, tmp_path)
    with Server(certs, *FLAGS, "--require-hardening", user=user, python=python, environment=PACKAGES) as server:
        client = Client(server.port, certs / "ca.crt")
        ready = client.get("/readyz")[1]
        assert (ready["ready"], "warnings" in ready) == (True, False)
        assert [client.metric("interp_hardening", wall=wall) for wall in WALLS] == [1] * len(WALLS)
        assert client.interpret(request("lua", "InterpretReplica", replicas=3))["replicas"] == 3
