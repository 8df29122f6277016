"""Talking to one API server: pages of a list, a stream of watch events, single objects. No state but the connection."""

from __future__ import annotations

import asyncio
import re
import ssl
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Final

import aiohttp

from estimator.clusters.credentials import Grant
from estimator.clusters.kubeconfig import Access
from estimator.clusters.refusals import refusal
from interpreters.core.errors import InputError, InterpError

_CONNECT_SECONDS: Final = 10.0
_ANSWER_SECONDS: Final = 60.0
_APPLY: Final = "application/apply-patch+yaml"
_MERGE: Final = "application/merge-patch+json"
_USER_AGENT: Final = "interp-estimator"
_LONGEST_STATUS: Final = 64 * 1024
UNREACHABLE: Final = 503  # what stands for a server that gave no answer
_TLS_CONTEXT: Final = re.compile(r" ssl:(<[^>]*>|\S+)")


class ApiError(InterpError):
    """The API server refused. `status` is the HTTP code, `retry_after` its advice in seconds."""

    def __init__(self, status: int, message: str, retry_after: float = 0.0) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after

    @property
    def is_gone(self) -> bool:
        """The resource version or the continue token is too old: list again."""
        return self.status == 410


@dataclass(slots=True)
class Throttle:
    """A token bucket: `rate` requests a second on average, `burst` at once (the `--kube-api-qps` flags).

    A rate of 0 or less limits nothing."""

    rate: float = 20.0
    burst: int = 30
    clock: Callable[[], float] = time.monotonic
    _tokens: float = field(init=False)
    _filled_at: float = field(init=False)

    def __post_init__(self) -> None:
        self._tokens, self._filled_at = float(self.burst), self.clock()

    def take(self) -> float:
        """Seconds to wait before the next request; it is counted from now on."""
        if self.rate <= 0:
            return 0.0
        now = self.clock()
        self._tokens = min(self.burst, self._tokens + (now - self._filled_at) * self.rate) - 1
        self._filled_at = now
        return max(0.0, -self._tokens / self.rate)

    async def wait(self) -> None:
        seconds = self.take()
        if seconds:
            await asyncio.sleep(seconds)


class ApiServer:
    """An API server that can be asked. Use as an async context manager."""

    def __init__(self, access: Access, throttle: Throttle | None = None) -> None:
        self._access = access
        self._throttle = throttle or Throttle()
        self._session: aiohttp.ClientSession | None = None
        self._tls: tuple[tuple[bytes, bytes, bytes], ssl.SSLContext] | None = None

    @property
    def address(self) -> str:
        return self._access.server

    async def __aenter__(self) -> ApiServer:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, enable_cleanup_closed=False),
            headers={"User-Agent": _USER_AGENT, "Accept": "application/json"},
            auto_decompress=True,
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()

    async def get(self, path: str, query: Mapping[str, str] | None = None) -> bytes:
        """The body of one answer."""
        timeout = aiohttp.ClientTimeout(total=_ANSWER_SECONDS, sock_connect=_CONNECT_SECONDS)
        async with await self._request(path, query or {}, timeout) as response:
            return await response.read()

    async def apply(self, path: str, manager: str, body: bytes) -> bytes:
        """Create or change one object (JSON) by server-side apply, taking over fields that others set."""
        return await self._write("PATCH", path, {"fieldManager": manager, "force": "true"}, body, _APPLY)

    async def merge(self, path: str, body: bytes) -> bytes:
        """Change one object by a JSON merge patch."""
        return await self._write("PATCH", path, {}, body, _MERGE)

    async def delete(self, path: str) -> None:
        """Delete one object."""
        await self._write("DELETE", path)

    async def _write(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: bytes | None = None,
        content: str = "",
    ) -> bytes:
        """Raises `ApiError`, also when the connection is lost: then nobody knows whether it was done."""
        timeout = aiohttp.ClientTimeout(total=_ANSWER_SECONDS, sock_connect=_CONNECT_SECONDS)
        try:
            request = self._request(path, query or {}, timeout, method=method, body=body, content=content)
            async with await request as response:
                return await response.read()
        except aiohttp.ClientConnectorError as error:
            raise ApiError(UNREACHABLE, f"{self.address}: cannot be reached: {worded(error)}") from None
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            lost = f"{method} {self.address}{path}: no answer: {worded(error)}"
            raise ApiError(UNREACHABLE, f"{lost}; it may have been done all the same, so do it again") from None

    async def watch(self, path: str, query: Mapping[str, str], idle_seconds: float) -> AsyncIterator[list[bytes]]:
        """The lines of a watch as they come, those of one read together. Ends when the server closes the stream.

        Raises `TimeoutError` when nothing came for `idle_seconds`: a server that is alive sends bookmarks.
        """
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS, sock_read=idle_seconds)
        async with await self._request(path, query, timeout) as response:
            yield []  # the stream is open
            rest = b""
            async for chunk in response.content.iter_any():
                *lines, rest = (rest + chunk).split(b"\n")
                if lines:
                    yield [line for line in lines if line]
            if rest.strip():
                yield [rest]

    async def _request(
        self,
        path: str,
        query: Mapping[str, str],
        timeout: aiohttp.ClientTimeout,
        *,
        method: str = "GET",
        body: bytes | None = None,
        content: str = "",
    ) -> aiohttp.ClientResponse:
        if self._session is None:
            raise RuntimeError("an ApiServer is used inside `async with`")
        await self._throttle.wait()
        grant = await self._access.credential.grant()
        typed = [("Content-Type", content)] if body is not None else []
        response = await self._session.request(
            method,
            self._access.server + path,
            params=dict(query),
            data=body,
            headers=[*self._access.headers, *grant.headers.items(), *typed],
            ssl=self._context(grant),
            server_hostname=self._access.server_name or None,
            proxy=self._access.proxy or None,
            timeout=timeout,
            allow_redirects=False,
        )
        if response.status in (200, 201):
            return response
        said = await _beginning(response)
        response.release()
        if response.status == 401:
            self._access.credential.renew()
        raise ApiError(response.status, refusal(method, path, response.status, said), _retry_after(response))

    def _context(self, grant: Grant) -> ssl.SSLContext | bool:
        """The TLS settings, made anew only when a certificate was rotated."""
        if not self._access.server.startswith("https:"):
            return True
        authority_file = self._access.authority_file
        authority = _read(authority_file) if authority_file else self._access.authority
        parts = (authority, grant.certificate, grant.key)
        if self._tls is None or self._tls[0] != parts:
            self._tls = (parts, _tls_context(self._access, authority, grant))
        return self._tls[1]


async def _beginning(response: aiohttp.ClientResponse) -> bytes:
    """The body as far as an API server's Status goes; whatever else answers may send more than anybody wants."""
    read = b""
    while len(read) < _LONGEST_STATUS and (piece := await response.content.read(_LONGEST_STATUS - len(read))):
        read += piece
    return read


def worded(error: Exception) -> str:
    """What went wrong, in the same words each time: the client's own text names its TLS context by address."""
    if isinstance(error, TimeoutError) and not str(error):
        return "no answer in time"
    return _TLS_CONTEXT.sub("", str(error)) or type(error).__name__


def _tls_context(access: Access, authority: bytes, grant: Grant) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=authority.decode() if authority else None)
    # Python 3.13 refuses authorities without a key usage, which many clusters have and Kubernetes' own clients accept.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if access.skip_verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if grant.certificate:
        # The ssl module reads a key only from a file; it lives for this one call, readable by us alone.
        with tempfile.NamedTemporaryFile() as pair:
            pair.write(grant.certificate + b"\n" + grant.key)
            pair.flush()
            try:
                context.load_cert_chain(pair.name)
            except ssl.SSLError:
                raise InputError("the client certificate and its key do not belong together or are not PEM") from None
    return context


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None


def _retry_after(response: aiohttp.ClientResponse) -> float:
    advice = response.headers.get("Retry-After", "")
    return float(advice) if advice.isdigit() else 0.0
