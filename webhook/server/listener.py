"""A listening port: which paths it serves, how a problem is worded in JSON, and how it stops without losing a request.

It is aiohttp's low-level server with a table of paths: no router, middleware or signals stand on the way of a request.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
from aiohttp.web_request import BaseRequest
from aiohttp.web_response import Response

from interpreters.core.errors import InterpError
from webhook.server.connections import HttpConnections, listening_sockets
from webhook.server.load import Load, Room
from webhook.server.logs import LOGGER
from webhook.server.problems import HttpProblem
from webhook.server.target import parse_target

Handler = Callable[[BaseRequest], Awaitable[Response]]

READ_SECONDS = 30.0
"""As long as the longest timeout that Karmada gives: who has not read an answer by then does not wait for it."""

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
    load: Load
    draining: bool = False
    _table: dict[str, dict[str, Handler]] = field(default_factory=dict)
    _server: HttpConnections | None = None
    _sockets: list[socket.socket] = field(default_factory=list)

    async def start(self, host: str, port: int, tls: ssl.SSLContext | None, *, share: bool = False) -> int:
        """Listen; the port taken. `share` lets other processes listen on the same one."""
        for route in self.routes:
            methods = self._table.setdefault(route.path, {})
            methods[route.method] = route.handler
            if route.method == "GET":
                methods["HEAD"] = route.handler
        self._server = HttpConnections(self._dispatch, self.most_connections, self.most_of_an_address)
        self._sockets = await listening_sockets(host, port, share=share)
        for listening in self._sockets:
            self._server.listen(listening, tls)
        return int(self._sockets[0].getsockname()[1])

    async def stop(self, seconds: float) -> None:
        """Accept no more, let what is under way finish, then close."""
        self.draining = True
        while self._sockets:  # stop comes twice: to drain, and at the end
            listening = self._sockets.pop()
            asyncio.get_running_loop().remove_reader(listening)
            listening.close()
        if self._server:
            self._server.pre_shutdown()
            await self._server.shutdown(seconds)

    async def _dispatch(self, request: BaseRequest) -> Response:
        if self._server:
            self._server.spoke.add(request.protocol)
        path = parse_target(request.raw_path).path
        methods = self._table.get(path)
        handler = methods.get(request.method) if methods else None
        try:
            response = await handler(request) if handler else self._refuse(request, methods)
        except Exception as error:  # whatever it is has an answer
            response = self._failed(path, error)
        return await self._send(request, response)

    async def _send(self, request: BaseRequest, response: Response) -> Response:
        """Write the answer. Its bytes count among those held until its reader has taken them, and a reader that does
        not is hung up on."""
        room = Room(self.load)
        try:
            room.hold(response.content_length or 0)
        except HttpProblem as problem:
            response = problem_response(problem.status, problem.reason, problem.message, problem.headers)
        response.headers["Server"] = "interp"  # and not the versions of what it is built from
        if self.draining:
            response.force_close()
        try:
            async with asyncio.timeout(READ_SECONDS):
                await response.prepare(request)
                await response.write_eof()
        except TimeoutError:
            if request.transport is not None:
                request.transport.abort()
        except ConnectionError:
            pass  # it went away; aiohttp notices too
        finally:
            room.leave()
        return response

    def _failed(self, path: str, error: Exception) -> Response:
        if isinstance(error, HttpProblem):
            response = problem_response(error.status, error.reason, error.message, error.headers)
            if error.headers.get("Connection") == "close":
                response.force_close()
        elif isinstance(error, InterpError):
            response = problem_response(error.code, error.fault, str(error))
        else:
            LOGGER.error("a request failed through a mistake of ours", extra={"path": path}, exc_info=error)
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
