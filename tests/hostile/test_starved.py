"""What starves a server instead of feeding it too much: connections that one address holds, a log that nobody reads."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import socket
import ssl
import subprocess
import sys
from pathlib import Path

import pytest
from aiohttp.web_request import BaseRequest
from aiohttp.web_response import Response

from certs.folder import make_folder
from tests.hostile.rows import MIB
from tests.webhook.server import SCRIPTS, Client, Server, request
from webhook.server import listener
from webhook.server.listener import Listener, Route
from webhook.server.load import Load
from webhook.server.log_writer import LogWriter

FLAGS = ["--scripts", str(SCRIPTS), "--bundled-language", "none", "--workers", "1"]
HELD = 4


@pytest.fixture(scope="module")
def certs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("starved")
    make_folder(folder, ["localhost"])
    return folder


def connect(port: int) -> socket.socket:
    """From another address than everybody else on this machine."""
    return socket.create_connection(("127.0.0.1", port), 30, source_address=("127.0.0.2", 0))


def refused(port: int, context: ssl.SSLContext) -> bool:
    """Whether a further connection is hung up on, during the handshake or instead of an answer."""
    try:
        with connect(port) as plain, context.wrap_socket(plain, server_hostname="localhost") as tls:
            tls.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            return not tls.recv(1)
    except OSError:
        return True


def test_one_address_cannot_hold_the_connections_of_the_others(certs: Path) -> None:
    with Server(certs, *FLAGS, "--max-connections-of-address", str(HELD)) as server, contextlib.ExitStack() as stack:
        context = Client(server.port, certs / "ca.crt").context
        for _ in range(HELD):
            plain = stack.enter_context(connect(server.port))
            stack.enter_context(context.wrap_socket(plain, server_hostname="localhost"))
        assert refused(server.port, context)
        assert Client(server.port, certs / "ca.crt").get("/healthz")[0] == 200, "another address is served"


def test_one_address_cannot_hold_the_connections_of_the_others_by_slow_handshakes(certs: Path) -> None:
    """Some say nothing, some stop in the middle of their first words; none gets as far as a request."""
    flags = [*FLAGS, "--max-connections-of-address", str(HELD), "--max-connections", str(2 * HELD)]
    with Server(certs, *flags) as server, contextlib.ExitStack() as stack:
        for attempt in range(20 * HELD):
            plain = stack.enter_context(connect(server.port))
            if attempt % 2:
                with contextlib.suppress(OSError):  # hung up on already
                    plain.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc")
        assert refused(server.port, Client(server.port, certs / "ca.crt").context)
        for _ in range(3):
            assert Client(server.port, certs / "ca.crt").get("/healthz")[0] == 200, "another address is served"
        assert len(list(Path(f"/proc/{server.process.pid}/fd").iterdir())) < 20 * HELD


def test_handshakes_that_fail_are_not_counted_for_ever(certs: Path) -> None:
    with Server(certs, *FLAGS, "--max-connections-of-address", str(HELD)) as server:
        context = Client(server.port, certs / "ca.crt").context
        for words in (b"", b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00") * HELD:
            with connect(server.port) as plain:
                plain.sendall(words)
                plain.shutdown(socket.SHUT_WR)
                with contextlib.suppress(OSError):
                    while plain.recv(1024):
                        pass
        assert not refused(server.port, context)


async def test_an_answer_that_nobody_reads_is_counted_among_bytes_held_and_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(listener, "READ_SECONDS", 5.0)  # time enough to ask a second time, however busy the machine is
    load = Load(most_bytes=100 * MIB, most_of_a_kind=1)

    async def large(request: BaseRequest) -> Response:
        return Response(body=bytes(40 * MIB))

    serving = Listener([Route("GET", "/large", large, None)], lambda path, status: None, 9, 9, load)
    port = await serving.start("127.0.0.1", 0, None)
    try:
        held = []
        for most in (40 * MIB, 40 * MIB):  # a quarter is left to the small, so there is no room for a second
            reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
            writer.write(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n")
            held.append((reader, writer, await reader.readuntil(b"\r\n")))
            assert load.bytes == most
        assert [line.split()[1] for _, _, line in held] == [b"200", b"429"]
        async with asyncio.timeout(30):
            while load.bytes:
                await asyncio.sleep(0.05)
        for _, writer, _ in held:
            writer.close()
    finally:
        await serving.stop(0)


def test_a_log_that_nobody_reads_stops_nothing_and_tells_what_was_lost(certs: Path) -> None:
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "interp", "serve", "--port", "0", "--certificate", str(certs / "tls.crt"),
         "--key", str(certs / "tls.key"), *FLAGS],
        stderr=writing, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(writing)
    try:
        port = int(first_line(reading).partition('"url":"https://127.0.0.1:')[2].partition('"')[0])
        client = Client(port, certs / "ca.crt")
        failing = request("lua", "InterpretReplica", uid="u" * 1000, behaviour="fail")
        while not client.metric("interp_log_lines_dropped_total"):  # four megabytes fill the queue
            for _ in range(500):
                client.interpret(failing)
        assert client.get("/healthz")[0] == 200
    finally:
        process.terminate()
        assert process.wait(30) == 0, "it also ends"
        os.close(reading)


def first_line(descriptor: int) -> str:
    """The first line that says where the server listens; nothing more is read."""
    received = b""
    while b'"listening"' not in received or not received.endswith(b"\n"):
        received += os.read(descriptor, 1)
    return received.decode()


def test_what_was_dropped_is_told_as_soon_as_somebody_reads() -> None:
    reading, writing = os.pipe()
    writer = LogWriter(lambda count: b"dropped %d\n" % count, writing, most=200_000)
    for _ in range(1000):
        writer.write(b"x" * 999 + b"\n")
    assert writer.dropped > 0
    received = b""
    while received.count(b"x" * 999) + sum(map(int, re.findall(rb"dropped (\d+)\n", received))) < 1000:
        received += os.read(reading, 65536)
    assert sum(map(int, re.findall(rb"dropped (\d+)\n", received))) == writer.dropped
    writer.close()
    os.close(reading)
    os.close(writing)


def test_an_author_without_workers_takes_nobody_elses_server_out_of_rotation(certs: Path, tmp_path: Path) -> None:
    """His only worker is held by a search without end, which no count sees, and killed again and again."""
    place = tmp_path / "stage.example.org/v1/Loop"
    place.mkdir(parents=True)
    search = "string.find(string.rep('a', 30000), string.rep('a?', 40) .. string.rep('a', 40) .. 'b')"
    (place / "interpreter.lua").write_text(f"function GetReplicas(obj) return {search} end\n")
    flags = [*FLAGS, "--scripts", str(tmp_path), "--script-seconds", "0.05"]
    with Server(certs, *flags) as server:
        client, prober = Client(server.port, certs / "ca.crt"), Client(server.port, certs / "ca.crt")
        asked = request("lua", "InterpretReplica")
        asked["kind"]["kind"] = asked["object"]["kind"] = "Loop"
        told = []
        for _ in range(10):
            assert not client.interpret(asked)["successful"]
            told.append(prober.get("/readyz"))
        assert {status for status, _ in told} == {200}
        assert any("folder 1" in ready.get("warnings", {}).get("workers", "") for _, ready in told)
