"""POST /interpret: the exchange with Karmada. Every failure that can be answered in its envelope is, with HTTP 200."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Callable
from functools import lru_cache
from time import perf_counter

import msgspec
from aiohttp.web_request import BaseRequest
from aiohttp.web_response import Response

from interpreters.core.errors import InternalError, InterpError, RequestError
from interpreters.core.requirements import Wire
from interpreters.core.wire import API_VERSION, KIND, Request, decode_request, encode_failure, encode_reply
from interpreters.interpretation import Interpretation, interpret_async
from webhook import openapi
from webhook.bodies import HttpProblem, read_body
from webhook.endpoint import budget_of, checked_names
from webhook.listener import Route
from webhook.logs import LOGGER
from webhook.service import Service

PATH = "/interpret"
_LONGEST_LOGGED = 16 * 1024


class _Uid(Wire, frozen=True):
    uid: str = ""


class _Envelope(Wire, frozen=True):
    """As little of the envelope as an answer in kind needs."""

    api_version: str
    kind: str
    request: _Uid


def interpret_routes(service: Service) -> list[Route]:
    secret = service.settings.path_secret
    path = f"{PATH}/{secret}" if secret else PATH
    return [Route("POST", path, Interpret(service).answer, openapi.INTERPRET, hidden=bool(secret))]


class Interpret:
    """The endpoint. One object serves all requests; what changes with a reload is read from the service."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._admits = allow_list(service.settings.allow_from)
        self._clock = asyncio.get_running_loop().time

    async def answer(self, request: BaseRequest) -> Response:
        service = self._service
        started = perf_counter()
        try:
            self._check_address(request)
            deadline = self._clock() + budget_of(request, service.settings)
            size = request.content_length or service.settings.max_body
            service.load.admit(size)
            try:
                body = await read_body(request, service.settings.max_body, deadline)
                reply = await self._reply(request, body, started, deadline)
            finally:
                service.load.release(size)
            return Response(body=reply, content_type="application/json")
        except HttpProblem as problem:
            service.metrics.count("unknown", "unknown", "busy" if problem.status == 429 else "request").inc()
            service.requests.failure(problem.message, status=problem.status, reason=problem.reason)
            raise

    def _check_address(self, request: BaseRequest) -> None:
        if not self._admits(request.remote or ""):
            raise HttpProblem(403, "address", "calls from this address are not allowed")

    async def _reply(self, http: BaseRequest, body: bytes, started: float, deadline: float) -> bytes:
        try:
            request = decode_request(body)
            checked_names(request.kind)
        except RequestError as error:
            return self._unreadable(body, error)
        try:
            done = await self._interpret(http, request, deadline)
            reply = encode_reply(request.uid, done.reply)
        except InterpError as error:
            return self._failed(request, error, started)
        except asyncio.CancelledError:
            self._count(request, "gone", started)
            raise
        except Exception:
            LOGGER.exception("an interpretation failed through a mistake of ours", extra={"uid": request.uid})
            return self._failed(request, InternalError("an internal error; the server's log has the details"), started)
        self._succeeded(request, done, started)
        self._service.seen(request, done.reply)
        return reply

    async def _interpret(self, http: BaseRequest, request: Request, deadline: float) -> Interpretation:
        service = self._service
        service.load.begin(request.kind)
        try:
            if not service.tracing.enabled:
                return await interpret_async(service.pool, service.catalog, request, deadline)
            with service.tracing.span(request, http.headers):
                return await interpret_async(service.pool, service.catalog, request, deadline)
        finally:
            service.load.end(request.kind)

    def _succeeded(self, request: Request, done: Interpretation, started: float) -> None:
        operation = request.operation.name
        seconds = self._count(request, "ok", started)
        for offer, outcome in zip(done.offers, done.outcomes, strict=True):
            self._service.metrics.time_script(operation, offer.script.language).observe(outcome.seconds)
        self._service.requests.success(request.uid, operation, str(request.kind), seconds)
        for warning in done.reply.warnings:
            self._service.requests.failure(warning, uid=request.uid, operation=operation, kind=str(request.kind))

    def _failed(self, request: Request, error: InterpError, started: float) -> bytes:
        outcome = "busy" if error.code == 429 else error.fault
        seconds = self._count(request, outcome, started)
        fields = {"object": _shown(request)} if self._service.settings.log_objects else {}
        self._service.requests.failure(
            str(error), uid=request.uid, operation=request.operation.name, kind=str(request.kind), fault=outcome,
            code=error.code, seconds=round(seconds, 6), **fields,
        )  # fmt: skip
        return encode_failure(request.uid, error)

    def _unreadable(self, body: bytes, error: RequestError) -> bytes:
        """A request that is wrong inside a sound envelope is answered in it; without a uid there is no answering."""
        try:
            envelope = msgspec.json.decode(body, type=_Envelope)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            envelope = None
        if envelope is None or not envelope.request.uid or (envelope.api_version, envelope.kind) != (API_VERSION, KIND):
            raise HttpProblem(error.code, "envelope", str(error))
        self._service.metrics.count("unknown", "unknown", "request").inc()
        self._service.requests.failure(str(error), uid=envelope.request.uid, code=error.code, fault=error.fault)
        return encode_failure(envelope.request.uid, error)

    def _count(self, request: Request, outcome: str, started: float) -> float:
        seconds = perf_counter() - started
        service = self._service
        # Only kinds with a script are named: labels chosen by callers would grow without end.
        kind = str(request.kind) if request.kind in service.known_kinds else "other"
        service.metrics.count(request.operation.name, kind, outcome).inc()
        service.metrics.time_request(request.operation.name).observe(seconds)
        return seconds


def allow_list(networks: list[str]) -> Callable[[str], bool]:
    """Whether an address may call. An IPv4 caller may come in IPv6 clothes."""
    if not networks:
        return lambda address: True
    allowed = [ipaddress.ip_network(network) for network in networks]

    @lru_cache(1024)
    def admits(address: str) -> bool:
        try:
            parsed = ipaddress.ip_address(address.partition("%")[0])
        except ValueError:
            return False
        mapped = getattr(parsed, "ipv4_mapped", None)
        return any((mapped or parsed) in network for network in allowed)

    return admits


def _shown(request: Request) -> str:
    """The object for the log; never one that is, holds or looks like a Secret, whatever the envelope calls it."""
    try:
        plain = msgspec.json.encode(msgspec.json.decode(request.object))  # without escapes to hide behind
    except (msgspec.DecodeError, RecursionError):
        return "not JSON"
    if b'"Secret"' in plain:
        return "not shown: it is or holds a Secret"
    return plain[:_LONGEST_LOGGED].decode(errors="replace")
