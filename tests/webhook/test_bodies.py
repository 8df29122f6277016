"""How much of other people's bodies a server keeps: what has come counts, unpacked, and not what is said to come."""

from __future__ import annotations

import contextlib
import gzip
import json
import socket
import threading
from pathlib import Path

from tests.webhook.server import ENVELOPE, SCRIPTS, Client, Server, request

FLAGS = ["--scripts", str(SCRIPTS), "--bundled-language", "none", "--workers", "1"]
GOOD = {**ENVELOPE, "request": request("starlark", "InterpretHealth")}


def test_bodies_that_are_only_announced_take_no_room(certs: Path) -> None:
    head = b"POST /interpret?timeout=30s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    head += b"Content-Length: 8388608\r\n\r\n{"
    with Server(certs, *FLAGS, "--max-bytes", "1048576") as server:
        client = Client(server.port, certs / "ca.crt")
        with contextlib.ExitStack() as stack:
            for _ in range(5):
                plain = stack.enter_context(socket.create_connection(("localhost", server.port)))
                tls = stack.enter_context(client.context.wrap_socket(plain, server_hostname="localhost"))
                tls.sendall(head)
            assert client.post(GOOD)[0] == 200


def test_packed_bodies_take_the_room_of_what_they_hold(certs: Path) -> None:
    stuffed = request("lua", "InterpretReplica", behaviour="loop", stuffing="x" * 2_000_000)
    packed = gzip.compress(json.dumps({**ENVELOPE, "request": stuffed}).encode())
    statuses: list[int] = []
    with Server(certs, *FLAGS, "--max-bytes", "4000000") as server:

        def post() -> None:
            client = Client(server.port, certs / "ca.crt")
            statuses.append(client.post(packed, "/interpret?timeout=5s", {"Content-Encoding": "gzip"})[0])

        threads = [threading.Thread(target=post) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(set(statuses)) == [200, 429]
        assert Client(server.port, certs / "ca.crt").post(GOOD)[0] == 200
