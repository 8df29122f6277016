"""Which files and functions one InterpretComponent request passes from the socket to the reply.

`python -m benchmarks walk` counts them, `python -m benchmarks.walk` names them in order. Only what every one of several
requests entered counts: timers and the first request of its kind pass elsewhere too.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import select
import socket
import ssl
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import uvloop

from benchmarks.webhook import RECORDINGS, ROOT, Row
from certs.folder import make_folder
from interpreters.sandbox import process
from webhook.process import serving
from webhook.server.settings import Settings

WARMING = 40
"""Requests until every cache is filled and the script is known to be fast."""

COUNTED = 10
MOST_FILES = 20
MOST_FUNCTIONS = 55

_PATIENCE = 30.0

Step = tuple[str, str]
"""A file, relative to the project, and the qualified name of a function in it."""


def run() -> Iterable[Row]:
    steps = walk()
    yield "files of the project between socket and reply", len({file for file, _ in steps}), "", MOST_FILES
    yield "functions in them", len(steps), "", MOST_FUNCTIONS


def walk() -> list[Step]:
    """The steps of the server process in the order they are entered first, then those that only its worker takes."""
    with tempfile.TemporaryDirectory() as name, _traced_workers() as workers:
        return uvloop.run(_walk(Path(name), workers))


@contextmanager
def _traced_workers() -> Iterator[list[process.WorkerProcess]]:
    """Workers that are started meanwhile note what they enter."""
    workers: list[process.WorkerProcess] = []
    start = process.start

    def traced() -> process.WorkerProcess:
        workers.append(start(preload=["benchmarks._walk_worker"]))
        return workers[-1]

    process.start = traced  # type: ignore[assignment]
    try:
        yield workers
    finally:
        process.start = start


async def _walk(folder: Path, workers: list[process.WorkerProcess]) -> list[Step]:
    make_folder(folder, ["localhost"])
    body = json.loads(RECORDINGS.read_text())[0]["request"]["body"].encode()
    settings = Settings(
        port=0, workers=1, certificate=str(folder / "tls.crt"), key=str(folder / "tls.key"), log_level="error"
    )
    async with serving(settings) as running:
        context = ssl.create_default_context(cafile=str(folder / "ca.crt"))
        caller = await asyncio.to_thread(_Caller, running.port, context)
        server, sandbox = [], []
        for _ in range(WARMING + COUNTED):
            server.append(_steps(await _entered(partial(caller.post, body))))
            sandbox.append(_steps(_told(workers)))
        caller.close()
    return list(dict.fromkeys(_common(server[WARMING:]) + _common(sandbox[WARMING:])))


class _Caller:
    """One keep-alive connection that sends head and body at once, as Karmada does."""

    def __init__(self, port: int, tls: ssl.SSLContext) -> None:
        plain = socket.create_connection(("localhost", port), _PATIENCE)
        self._connection = tls.wrap_socket(plain, server_hostname="localhost")

    def post(self, body: bytes) -> None:
        head = "POST /interpret?timeout=3s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        self._connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        response = http.client.HTTPResponse(self._connection)
        response.begin()
        answer = response.read()
        if b'"successful":true' not in answer:
            raise RuntimeError(answer.decode())

    def close(self) -> None:
        self._connection.close()


async def _entered(post: partial[None]) -> list[Step]:
    """What this thread enters until the answer has been read by another."""
    entered: dict[Step, None] = {}

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            entered[frame.f_code.co_filename, frame.f_code.co_qualname] = None

    sys.setprofile(note)
    try:
        await asyncio.to_thread(post)
    finally:
        sys.setprofile(None)
    return list(entered)


def _told(workers: list[process.WorkerProcess]) -> list[Step]:
    """What the worker of the request has entered. Its pipe is the one for what a crashing worker writes."""
    told, _, _ = select.select([worker._errors for worker in workers], [], [], _PATIENCE)
    (pipe,) = told  # one script is asked, and so one worker answers
    return [(file, function) for file, function in json.loads(os.read(pipe, 1 << 16).splitlines()[-1])]


def _steps(entered: Iterable[Step]) -> list[Step]:
    """Those of the project. What Python makes a function of, such as a generator expression, is part of its own."""
    return [
        (Path(file).relative_to(ROOT).as_posix(), function)
        for file, function in entered
        if file.startswith(f"{ROOT}/") and "/.venv/" not in file and "/benchmarks/" not in file
        if not function.endswith(("comp>", "<genexpr>"))
    ]


def _common(walks: list[list[Step]]) -> list[Step]:
    return [step for step in walks[-1] if all(step in walk for walk in walks)]


if __name__ == "__main__":
    for file, function in walk():
        print(f"{file:<40} {function}")
