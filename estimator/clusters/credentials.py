"""Proving who we are to an API server: tokens, token files, client certificates and exec plugins."""

from __future__ import annotations

import asyncio
import base64
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final, Protocol

import msgspec

from interpreters.core.errors import InputError

_TOKEN_FILE_SECONDS: Final = 60.0  # rotated service account tokens stay valid far longer than this
_EXPIRY_MARGIN_SECONDS: Final = 30.0
_PLUGIN_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class Grant:
    """What goes along with a request: headers, and a client certificate where one is used."""

    headers: Mapping[str, str] = field(default_factory=dict)
    certificate: bytes = b""
    key: bytes = b""


class Credential(Protocol):
    """A source of grants. `renew` is called after the server answered 401."""

    async def grant(self) -> Grant: ...

    def renew(self) -> None: ...


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def basic(username: str, password: str) -> dict[str, str]:
    encoded = base64.b64encode(f"{username}:{password}".encode()).decode()
    return {"Authorization": f"Basic {encoded}"}


@dataclass(frozen=True, slots=True)
class FixedCredential:
    """Something that does not change: a token from the kubeconfig, a user and password, or nothing at all."""

    fixed: Grant = Grant()

    async def grant(self) -> Grant:
        return self.fixed

    def renew(self) -> None:
        """Nothing to renew."""


@dataclass(slots=True)
class CertificateFiles:
    """A client certificate in files, read at every grant because they are rotated in place."""

    certificate: Path
    key: Path

    async def grant(self) -> Grant:
        return Grant(certificate=_read(self.certificate), key=_read(self.key))

    def renew(self) -> None:
        """Nothing is kept."""


@dataclass(slots=True)
class TokenFile:
    """A token in a file that somebody rotates, as in every pod; it is read again once a minute."""

    path: Path
    clock: Callable[[], float] = time.monotonic
    _token: str = ""
    _read_at: float = float("-inf")

    async def grant(self) -> Grant:
        if self.clock() - self._read_at >= _TOKEN_FILE_SECONDS:
            self._token = _read(self.path).decode().strip()
            self._read_at = self.clock()
        return Grant(bearer(self._token))

    def renew(self) -> None:
        self._read_at = float("-inf")


class _ExecStatus(msgspec.Struct, rename="camel"):
    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: datetime | None = None


class _ExecCredential(msgspec.Struct):
    status: _ExecStatus | None = None


@dataclass(slots=True)
class ExecPlugin:
    """A program that prints an ExecCredential, run again when what it printed expires or is refused."""

    command: str
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    api_version: str = "client.authentication.k8s.io/v1"
    cluster: Mapping[str, object] | None = None
    install_hint: str = ""
    wall_clock: Callable[[], float] = time.time
    _grant: Grant | None = None
    _expires: float = float("inf")
    _running: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def grant(self) -> Grant:
        async with self._running:
            if self._grant is None or self.wall_clock() >= self._expires - _EXPIRY_MARGIN_SECONDS:
                status = await self._run()
                self._expires = status.expiration_timestamp.timestamp() if status.expiration_timestamp else float("inf")
                self._grant = Grant(
                    bearer(status.token) if status.token else {},
                    status.client_certificate_data.encode(),
                    status.client_key_data.encode(),
                )
            return self._grant

    def renew(self) -> None:
        self._grant = None

    async def _run(self) -> _ExecStatus:
        spec: dict[str, object] = {"interactive": False}
        if self.cluster is not None:
            spec["cluster"] = dict(self.cluster)
        info = {"apiVersion": self.api_version, "kind": "ExecCredential", "spec": spec}
        environment = {**os.environ, **self.environment, "KUBERNETES_EXEC_INFO": msgspec.json.encode(info).decode()}
        try:
            process = await asyncio.create_subprocess_exec(
                self.command,
                *self.arguments,
                env=environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except OSError as error:
            hint = f"; {self.install_hint.strip()}" if self.install_hint else ""
            raise InputError(f"exec plugin {self.command} cannot be started: {error.strerror}{hint}") from None
        try:
            printed, complaint = await asyncio.wait_for(process.communicate(), _PLUGIN_SECONDS)
        except TimeoutError:
            process.kill()
            await process.wait()
            raise InputError(f"exec plugin {self.command} did not answer within {_PLUGIN_SECONDS:.0f} s") from None
        if process.returncode:
            said = complaint.decode(errors="replace").strip().splitlines()[-1:] or ["nothing on stderr"]
            raise InputError(f"exec plugin {self.command} failed with exit code {process.returncode}: {said[0]}")
        return self._decode(printed)

    def _decode(self, printed: bytes) -> _ExecStatus:
        try:
            status = msgspec.json.decode(printed, type=_ExecCredential).status
        except msgspec.MsgspecError as error:
            raise InputError(f"exec plugin {self.command} did not print an ExecCredential: {error}") from None
        if status is None or not (status.token or status.client_certificate_data):
            raise InputError(f"exec plugin {self.command} printed an ExecCredential without token or certificate")
        return status


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
