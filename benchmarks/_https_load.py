"""A lean HTTPS load client: keep-alive connections that post one body again and again. Its own process, to be fair.

`python -m benchmarks._https_load PORT CA BODY CONNECTIONS SECONDS` prints one line of JSON.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import sys
from pathlib import Path
from time import perf_counter
from typing import cast

import uvloop


class Caller(asyncio.Protocol):
    """One connection. Sends the next request when the whole answer to the last one is there."""

    def __init__(self, request: bytes, until: float, taken: list[float]) -> None:
        self._request = request
        self._until = until
        self._taken = taken
        self._received = b""
        self.failures = 0
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._send()

    def _send(self) -> None:
        self._sent = perf_counter()
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, found, body = self._received.partition(b"\r\n\r\n")
        if not found:
            return
        length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        if len(body) < length:
            return
        now = perf_counter()
        self._taken.append(now - self._sent)
        self.failures += b'"successful":true' not in body
        self._received = b""
        if now < self._until:
            self._send()
        else:
            self._transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        self.failures += error is not None
        if not self.done.done():
            self.done.set_result(None)


async def drive(port: int, bundle: str, body: bytes, connections: int, seconds: float) -> dict[str, float]:
    """How fast it went: answers per second, middle and 99th percentile in seconds, and how many went wrong."""
    context = ssl.create_default_context(cafile=bundle)
    head = (
        "POST /interpret?timeout=3s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"User-Agent: kube-apiserver-admission\r\nAccept-Encoding: gzip\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    taken: list[float] = []
    loop = asyncio.get_running_loop()
    started = perf_counter()
    callers = []
    for _ in range(connections):
        _, caller = await loop.create_connection(
            lambda: Caller(head.encode() + body, started + seconds, taken), "127.0.0.1", port,
            ssl=context, server_hostname="localhost",
        )  # fmt: skip
        callers.append(caller)
    await asyncio.gather(*(caller.done for caller in callers))
    elapsed = perf_counter() - started
    taken.sort()
    return {
        "rate": len(taken) / elapsed,
        "p50": taken[len(taken) // 2],
        "p99": taken[len(taken) * 99 // 100],
        "failures": sum(caller.failures for caller in callers),
    }


if __name__ == "__main__":
    port, bundle, body, connections, seconds = sys.argv[1:]
    figures = uvloop.run(drive(int(port), bundle, Path(body).read_bytes(), int(connections), float(seconds)))
    print(json.dumps(figures))
