"""Several server processes on one port: starts them, restarts one that dies, passes signals on, stops them all.

They are started anew, never forked: the sandbox, OpenSSL and the event loop all dislike being copied.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import ExitStack

import msgspec

from webhook.server.logs import LOGGER, WRITER
from webhook.server.metrics import DIRECTORY_VARIABLE
from webhook.server.settings import Settings
from webhook.server.shared_folder import own_folder

_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0
_HEALTHY_SECONDS = 10.0
_GRACE_SECONDS = 5.0


def supervise(settings: Settings) -> int:
    """Run `settings.processes` servers until told to stop; the exit code."""
    with ExitStack() as stack:
        stack.callback(WRITER.close)
        directory = stack.enter_context(own_folder())
        # Bound but not listening: the port stays ours while processes come and go, and gets no connections itself.
        reserved = stack.enter_context(_reserve(settings.host, settings.port))
        settings = msgspec.structs.replace(settings, port=reserved.getsockname()[1])
        if settings.admin_port is not None:
            second = stack.enter_context(_reserve(settings.admin_host, settings.admin_port))
            settings = msgspec.structs.replace(settings, admin_port=second.getsockname()[1])
        return asyncio.run(_Supervisor(settings, directory).run())


class _Supervisor:
    def __init__(self, settings: Settings, directory: str) -> None:
        self._settings = settings
        self._directory = directory
        self._processes: dict[int, Process] = {}
        self._ready: set[int] = set()
        self._stop = asyncio.Event()
        self._code = 0

    async def run(self) -> int:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop.set)
        loop.add_signal_handler(signal.SIGHUP, self._reload)
        keepers = [asyncio.create_task(self._keep(place)) for place in range(self._settings.processes)]
        await self._stop.wait()
        self._pass_on(signal.SIGTERM)
        patience = self._settings.drain_seconds + self._settings.drain_delay + _GRACE_SECONDS
        _, late = await asyncio.wait(keepers, timeout=patience)
        if late:
            self._pass_on(signal.SIGKILL)
            await asyncio.wait(late)
        return self._code

    async def _keep(self, place: int) -> None:
        """One process after another at this place."""
        loop = asyncio.get_running_loop()
        pause, was_ready = _SHORTEST_PAUSE, False
        while not self._stop.is_set():
            started = loop.time()
            process = await self._start()
            self._processes[place] = process
            if self._stop.is_set():  # told to stop while it was being started
                process.terminate()
            ready = bool(process.stdout and await process.stdout.readline())
            if ready:
                self._ready.add(process.pid)
            code = await process.wait()
            del self._processes[place]
            self._ready.discard(process.pid)
            _forget_gauges(self._directory, process.pid)
            if self._stop.is_set():
                return
            if not ready and not was_ready:
                # It never came up even once: the settings or scripts are at fault, and trying again would not help.
                self._code = code or 1
                self._stop.set()
                return
            was_ready = was_ready or ready
            pause = _SHORTEST_PAUSE if loop.time() - started > _HEALTHY_SECONDS else min(pause * 2, _LONGEST_PAUSE)
            LOGGER.error("a server process died; starting another", extra={"code": code, "pauseSeconds": pause})
            await self._paused(pause)

    async def _start(self) -> Process:
        environment = {**os.environ, DIRECTORY_VARIABLE: self._directory}
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", "webhook.process", stdin=PIPE, stdout=PIPE, env=environment
        )
        if process.stdin:
            # Settings hold secrets, so they do not travel by command line. The pipe stays open: its end tells the
            # child that this process is gone.
            process.stdin.write(msgspec.json.encode(self._settings) + b"\n")
        return process

    def _reload(self) -> None:
        """One that is not ready yet is reading the files anyway, and SIGHUP would still end it."""
        for process in self._processes.values():
            if process.pid in self._ready and process.returncode is None:
                process.send_signal(signal.SIGHUP)

    def _pass_on(self, number: int) -> None:
        for process in self._processes.values():
            if process.returncode is None:
                process.send_signal(number)

    async def _paused(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._stop.wait()
        except TimeoutError:
            pass


def _reserve(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    reserved = socket.socket(family)
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    reserved.bind((host, port))
    return reserved


def _forget_gauges(directory: str, pid: int) -> None:
    from prometheus_client.multiprocess import mark_process_dead

    mark_process_dead(pid, directory)  # type: ignore[no-untyped-call]
