"""What a row of the hostile tables is: a sentence, how to do harm, and what must come of it.

The tables are in `requests`, `objects` and `scripts` (sent to a running server while a neighbour asks, `test_server`),
in `files` (given to the command, `test_files`) and in `frames` (said by a worker, `test_frames`).
"""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.webhook.server import ENVELOPE

MIB = 1024 * 1024
PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class Answer:
    """HTTP's status and the body; status 0 when the server hung up without a word."""

    status: int
    body: bytes = b""

    @property
    def code(self) -> int | None:
        """The status inside Karmada's envelope, 200 for success; None without such an envelope."""
        try:
            response = json.loads(self.body)["response"]
        except (ValueError, KeyError, TypeError):
            return None
        return 200 if response.get("successful") else int(response["status"]["code"])


@dataclass(frozen=True, slots=True)
class Target:
    """Where a server listens."""

    port: int
    bundle: Path
    context: ssl.SSLContext = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "context", ssl.create_default_context(cafile=str(self.bundle)))

    def exchange(self, text: bytes) -> Answer:
        """Send bytes as they are on a connection of their own, and read one answer."""
        received = b""
        with (
            socket.create_connection(("localhost", self.port), PATIENCE) as plain,
            self.context.wrap_socket(plain, server_hostname="localhost") as tls,
        ):
            try:
                tls.sendall(text)
                while chunk := tls.recv(65536):
                    received += chunk
            except (ConnectionError, ssl.SSLError):
                pass
        head, _, body = received.partition(b"\r\n\r\n")
        return Answer(int(head.split()[1]), body) if head.startswith(b"HTTP/") else Answer(0)


Attack = Callable[[Target], Answer]


def allowed(wanted: int | tuple[int, ...]) -> tuple[int, ...]:
    return wanted if isinstance(wanted, tuple) else (wanted,)


@dataclass(frozen=True, slots=True)
class Row:
    """`status` is HTTP's, `code` that inside Karmada's envelope. `says` is part of the answer; `secret` is in neither
    answer nor log. No answer is longer than `longest` bytes, no server process larger than `memory`."""

    name: str
    attack: Attack
    status: int | tuple[int, ...]
    code: int | tuple[int, ...] | None = None
    says: str = ""
    secret: str = ""
    longest: int = 64 * 1024
    memory: int = 400 * MIB


def post(
    body: bytes | Callable[[], bytes], path: str = "/interpret?timeout=5s", headers: Mapping[str, str] | None = None
) -> Attack:
    """One POST of JSON. A large body is made only when it is sent."""

    def attack(target: Target) -> Answer:
        content = body() if callable(body) else body
        fields = {
            "Host": "localhost", "Content-Type": "application/json", "Connection": "close",
            "Content-Length": str(len(content)), **(headers or {}),
        }  # fmt: skip
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        return target.exchange(f"POST {path} HTTP/1.1\r\n{head}\r\n".encode() + content)

    return attack


def raw(text: bytes | Callable[[], bytes]) -> Attack:
    """Bytes that need not be HTTP."""
    return lambda target: target.exchange(text() if callable(text) else text)


def question(obj: Mapping[str, Any] | bytes, operation: str = "InterpretReplica", **more: Any) -> bytes:
    """Karmada's envelope around an object, which may be JSON text that no encoder would write."""
    text = obj if isinstance(obj, bytes) else json.dumps(obj).encode()
    api_version, kind = (
        ("stage.example.org/v1", "Scene") if isinstance(obj, bytes) else (obj["apiVersion"], obj["kind"])
    )
    group, _, version = str(api_version).rpartition("/")
    asked = {
        "uid": "hostile", "operation": operation, "name": "x", "namespace": "default", "replicas": 0,
        "kind": {"group": group, "version": version, "kind": kind}, "object": "OBJECT", **more,
    }  # fmt: skip
    return json.dumps({**ENVELOPE, "request": asked}).encode().replace(b'"OBJECT"', text, 1)


def scene(spec: bytes) -> bytes:
    """A made-up object with this JSON as its spec; its script is tests/webhook/scripts' Scene."""
    return b'{"apiVersion":"stage.example.org/v1","kind":"Scene","metadata":{"name":"x"},"spec":' + spec + b"}"


def review(obj: bytes, kind: Mapping[str, str], operation: str = "CREATE") -> bytes:
    """An AdmissionReview around an object."""
    asked = {"uid": "u", "operation": operation, "kind": kind, "namespace": "default", "object": "OBJECT"}
    envelope = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": asked}
    return json.dumps(envelope).encode().replace(b'"OBJECT"', obj, 1)
