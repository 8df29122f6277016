"""A listening port: which paths it serves, how a problem is worded in JSON, and how it stops without losing a request.

It is aiohttp's low-level server with a table of paths: no router, middleware or signals stand on the way of a request.
"""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
from aiohttp.web_protocol import RequestHandler
from aiohttp.web_request import BaseRequest
from aiohttp.web_response import Response
from aiohttp.web_server import Server

from interpreters.core.errors import InterpError
from webhook.bodies import HttpProblem
from webhook.logs import LOGGER
from webhook.target import parse_target

Handler = Callable[[BaseRequest], Awaitable[Response]]

HEAD_SECONDS = 10.0  # a connection that has not sent a request's head by then is closed
KEEP_ALIVE_SECONDS = 120.0  # longer than Go's 90 s, so that the client closes first and no request crosses our close
LINGER_SECONDS = 2.0  # how long the rest of a refused body is read, so that its sender gets to see the refusal
_JSON = "application/json"
_ENCODE = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Route:
    """One endpoint: a path, a method, the function that answers, and its part of the OpenAPI document."""

    method: str
    path: str
    handler: Handler
    description: Mapping[str, Any] | None  # None: not in the OpenAPI document
    hidden: bool = False  # left out when known paths are named


def json_response(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(body=_ENCODE(value), status=status, headers=headers, content_type=_JSON)


def problem_response(status: int, reason: str, message: str, headers: Mapping[str, str] | None = None) -> Response:
    """The JSON body of every answer that is not in an envelope of its own."""
    return json_response({"code": status, "reason": reason, "message": message}, status, headers)


def unconfigured(path: str, setting: str) -> Route:
    """A path that would be served if something were set, and says so."""

    async def refuse(request: BaseRequest) -> Response:
        return problem_response(404, "unconfigured", f"{path} needs a setting: {setting}")

    return Route("POST", path, refuse, None, hidden=True)


@dataclass(slots=True)
class Listener:
    """Serves some routes on one address. `count` hears of each answer outside of /interpret: path and status."""

    routes: Iterable[Route]
    count: Callable[[str, int], None]
    most_connections: int
    most_of_an_address: int
    draining: bool = False
    _table: dict[str, dict[str, Handler]] = field(default_factory=dict)
    _server: _Server | None = None
    _socket: asyncio.Server | None = None

    async def start(self, host: str, port: int, tls: ssl.SSLContext | None, *, share: bool = False) -> int:
        """Listen; the port taken. `share` lets other processes listen on the same one."""
        for route in self.routes:
            methods = self._table.setdefault(route.path, {})
            methods[route.method] = route.handler
            if route.method == "GET":
                methods["HEAD"] = route.handler
        self._server = _Server(self._dispatch, self.most_connections, self.most_of_an_address)
        loop = asyncio.get_running_loop()
        self._socket = await loop.create_server(
            self._server, None if host == "::" else host, port, ssl=tls, reuse_port=share or None, backlog=1024,
            ssl_handshake_timeout=HEAD_SECONDS if tls else None,
        )  # fmt: skip
        return int(self._socket.sockets[0].getsockname()[1])

    async def stop(self, seconds: float) -> None:
        """Accept no more, let what is under way finish, then close."""
        self.draining = True
        if self._socket:
            self._socket.close()
        if self._server:
            self._server.pre_shutdown()
            await self._server.shutdown(seconds)

    async def _dispatch(self, request: BaseRequest) -> Response:
        path = parse_target(request.raw_path).path
        methods = self._table.get(path)
        handler = methods.get(request.method) if methods else None
        if handler is None:
            response = self._refuse(request, methods)
        else:
            response = await self._answer(handler, request, path)
        response.headers["Server"] = "interp"  # and not the versions of what it is built from
        if self.draining:
            response.force_close()
        return response

    async def _answer(self, handler: Handler, request: BaseRequest, path: str) -> Response:
        try:
            return await handler(request)
        except HttpProblem as problem:
            response = problem_response(problem.status, problem.reason, problem.message, problem.headers)
            if problem.headers.get("Connection") == "close":
                response.force_close()
        except InterpError as error:
            response = problem_response(error.code, error.fault, str(error))
        except Exception:
            LOGGER.exception("a request failed through a mistake of ours", extra={"path": path})
            response = problem_response(500, "ours", "an internal error; the server's log has the details")
        self.count(path, response.status)
        return response

    def _refuse(self, request: BaseRequest, methods: Mapping[str, Handler] | None) -> Response:
        if methods is None:
            known = sorted({route.path for route in self.routes if not route.hidden})
            self.count("other", 404)
            return problem_response(404, "path", f"no such path; this listener serves {', '.join(known)}")
        self.count("other", 405)
        allowed = ", ".join(sorted(methods))
        return problem_response(405, "method", f"the method must be {allowed}", {"Allow": allowed})


class _Server(Server):
    """aiohttp's connection keeper, which also lets go of clients that connect and then say nothing, and of those
    that are one too many: of all, or of one address."""

    def __init__(self, handler: Handler, most: int, most_of_an_address: int) -> None:
        super().__init__(
            handler,
            request_factory=self._request,
            handler_cancellation=True,  # a client that goes away frees its worker
            access_log=None,
            auto_decompress=False,  # bodies are unpacked under our own limit
            keepalive_timeout=KEEP_ALIVE_SECONDS,
            lingering_time=LINGER_SECONDS,
        )
        self._most = most
        self._most_of_an_address = most_of_an_address
        self._peers: dict[RequestHandler, str] = {}
        self._of_peer: Counter[str] = Counter()
        self._spoke: set[RequestHandler] = set()

    def __call__(self) -> RequestHandler:
        connection = super().__call__()
        self._loop.call_later(HEAD_SECONDS, self._hang_up_if_silent, connection)
        return connection

    def connection_made(self, handler: RequestHandler, transport: asyncio.Transport) -> None:
        super().connection_made(handler, transport)
        peer = self._peers[handler] = peer_of(transport.get_extra_info("peername"))
        self._of_peer[peer] += 1
        if len(self._connections) > self._most or self._of_peer[peer] > self._most_of_an_address:
            handler.force_close()

    def connection_lost(self, handler: RequestHandler, exc: BaseException | None = None) -> None:
        self._spoke.discard(handler)
        peer = self._peers.pop(handler, None)
        if peer is not None:
            self._of_peer[peer] -= 1
            if not self._of_peer[peer]:
                del self._of_peer[peer]
        super().connection_lost(handler, exc)

    def _request(self, message: Any, payload: Any, protocol: RequestHandler, writer: Any, task: Any) -> BaseRequest:
        self._spoke.add(protocol)
        return BaseRequest(message, payload, protocol, writer, task, self._loop)

    def _hang_up_if_silent(self, connection: RequestHandler) -> None:
        if connection not in self._spoke:
            connection.force_close()


def peer_of(peername: Any) -> str:
    """What connections are counted by: the address, of IPv6 the half that a network is given as a whole.

    >>> peer_of(("10.0.0.7", 4711)), peer_of(("2001:db8::7:8:9", 4711, 0, 0)), peer_of(("::ffff:10.0.0.7", 4711, 0, 0))
    ('10.0.0.7', '2001:db8::/64', '10.0.0.7')
    """
    host = str(peername[0]).partition("%")[0] if peername else ""
    if ":" not in host:
        return host
    address = ipaddress.IPv6Address(host)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((host, 64), strict=False))
