"""A real `interp serve` process and a real HTTPS client for it."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

SCRIPTS = Path(__file__).parent / "scripts"
ENVELOPE = {"apiVersion": "config.karmada.io/v1alpha1", "kind": "ResourceInterpreterContext"}
KINDS = {"starlark": "Act", "lua": "Scene"}
_PATIENCE = 30.0


class Server:
    """Starts with flags, tells its ports by its log, and always ends."""

    def __init__(
        self, certs: Path, *flags: str, environment: Mapping[str, str] | None = None, user: int | None = None,
        python: str = sys.executable,
    ) -> None:  # fmt: skip
        """`user` is whom it runs as, by default whoever runs the tests."""
        self.certs = certs
        self._log = (certs / f"server-{time.monotonic_ns()}.log").open("w+")
        self.process = subprocess.Popen(
            [python, "-m", "interp", "serve", "--port", "0", "--certificate", str(certs / "tls.crt"),
             "--key", str(certs / "tls.key"), *flags],
            stderr=self._log, stdin=subprocess.DEVNULL, env={**os.environ, **(environment or {})},
            user=user,
        )  # fmt: skip
        listening = self.wait_for("listening")
        self.port = int(listening["url"].rpartition(":")[2])
        self.admin_port = int(listening["adminUrl"].rpartition(":")[2]) if "adminUrl" in listening else None

    def lines(self) -> list[dict[str, Any]]:
        text = Path(self._log.name).read_text()
        return [json.loads(line) for line in text.splitlines() if line.endswith("}")]

    def wait_for(self, message: str, count: int = 1, **fields: Any) -> dict[str, Any]:
        """The line of the log with this message, once there are so many of them."""
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            found = [
                line for line in self.lines()
                if line["message"] == message and all(line.get(name) == value for name, value in fields.items())
            ]  # fmt: skip
            if len(found) >= count:
                return found[-1]
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        raise AssertionError(f"no line {message!r} {fields} in\n{Path(self._log.name).read_text()[-4000:]}")

    def line_of(self, uid: str) -> dict[str, Any]:
        """The only line about a request, as soon as it is there: lines are written a moment after the answer."""
        found: list[dict[str, Any]] = eventually(lambda: [line for line in self.lines() if line.get("uid") == uid])
        (line,) = found
        return line

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        finally:
            self._log.close()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class Client:
    """One keep-alive connection."""

    def __init__(self, port: int, bundle: Path, client: Path | None = None) -> None:
        self.context = ssl.create_default_context(cafile=str(bundle))
        if client:
            self.context.load_cert_chain(client / "tls.crt", client / "tls.key")
        self.port = port
        self.connection = http.client.HTTPSConnection("localhost", port, timeout=_PATIENCE, context=self.context)

    def send(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> tuple[int, Any]:
        """Status and body, decoded if it is JSON."""
        self.connection.request(method, path, body, dict(headers or {}))
        response = self.connection.getresponse()
        content = response.read()
        self.headers = response.headers
        is_json = content and response.headers.get("Content-Type", "").startswith("application/json")
        return response.status, json.loads(content) if is_json else content.decode()

    def get(self, path: str) -> tuple[int, Any]:
        return self.send("GET", path)

    def post(
        self, body: bytes | Mapping[str, Any], path: str = "/interpret", headers: Mapping[str, str] | None = None
    ) -> tuple[int, Any]:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.send("POST", path, raw, {"Content-Type": "application/json", **(headers or {})})

    def interpret(self, request: Mapping[str, Any], path: str = "/interpret?timeout=5s") -> dict[str, Any]:
        status, answer = self.post({**ENVELOPE, "request": request}, path)
        assert status == 200, answer
        response: dict[str, Any] = answer["response"]
        assert response["uid"] == request["uid"]
        return response

    def metric(self, name: str, **labels: str) -> float:
        """The sum of the samples of this name with these labels."""
        _, text = self.get("/metrics")
        wanted = [f'{key}="{value}"' for key, value in labels.items()]
        return sum(
            float(line.rpartition(" ")[2])
            for line in text.splitlines()
            if line.partition("{")[0].partition(" ")[0] == name and all(label in line for label in wanted)
        )

    def close(self) -> None:
        self.connection.close()


def eventually(true: Callable[[], Any], seconds: float = 20.0) -> Any:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := true():
            return found
        time.sleep(0.02)
    raise AssertionError("it never became true")


def request(
    language: str, operation: str, uid: str = "u-1", more: Mapping[str, Any] | None = None, **spec: Any
) -> dict[str, Any]:
    """A request about a made-up object whose spec holds these fields."""
    kind = KINDS[language]
    obj = {
        "apiVersion": "stage.example.org/v1",
        "kind": kind,
        "metadata": {"name": "hamlet", "namespace": "default"},
        "spec": spec,
    }
    return {
        "uid": uid,
        "kind": {"group": "stage.example.org", "version": "v1", "kind": kind},
        "name": "hamlet",
        "namespace": "default",
        "operation": operation,
        "object": obj,
        "replicas": 0,
        **(more or {}),
    }


def raw_exchange(port: int, text: bytes, context: ssl.SSLContext, seconds: float = 20.0) -> bytes:
    """Send bytes as they are over TLS and read until the server closes or falls silent."""
    received = b""
    with (
        socket.create_connection(("localhost", port), seconds) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as tls,
    ):
        tls.sendall(text)
        try:
            while chunk := tls.recv(65536):
                received += chunk
        except (TimeoutError, ssl.SSLError, ConnectionError):
            pass
    return received
