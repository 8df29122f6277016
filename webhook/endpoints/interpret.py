"""POST /interpret: the exchange with Karmada. Every failure that can be answered in its envelope is, with HTTP 200."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from time import perf_counter

import msgspec
from aiohttp.web_request import BaseRequest
from aiohttp.web_response import Response

from interpreters.core.decoder_errors import UNREADABLE
from interpreters.core.errors import InternalError, InterpError, LimitError, RequestError, ScriptError
from interpreters.core.karmada.api import CONFIG_API
from interpreters.core.requirements import Wire
from interpreters.core.secrets import WITHHELD, holds_secret
from interpreters.core.wire import KIND, LONGEST_UID, Request, decode_request, encode_failure, encode_reply
from interpreters.interpretation import Interpretation, interpret_async
from webhook.endpoints import openapi
from webhook.endpoints.service import Service
from webhook.server.bodies import checked_names, received
from webhook.server.listener import Route
from webhook.server.logs import LOGGER
from webhook.server.problems import HttpProblem

PATH = "/interpret"
_LONGEST_LOGGED = 16 * 1024
_LONGEST_PRINTED = 4 * 1024
_UNTRACED: AbstractContextManager[None] = nullcontext()


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
        self._check_address = address_check(service.settings.allow_from)

    async def answer(self, request: BaseRequest) -> Response:
        service = self._service
        started = perf_counter()
        try:
            if self._check_address:
                self._check_address(request.remote or "")
            async with received(request, service.settings, service.load) as (body, deadline):
                try:
                    question = decode_request(body)
                    checked_names(question.kind, question.name, question.namespace)
                except RequestError as error:
                    reply = self._unreadable(body, error)
                else:
                    del body  # a call may wait for long, and what it needs of the body has been copied
                    reply = await self._reply(request, question, started, deadline)
            return Response(body=reply, content_type="application/json")
        except HttpProblem as problem:
            service.metrics.count("unknown", "unknown", "busy" if problem.status == 429 else "request").inc()
            service.requests.warn(problem.message, status=problem.status, reason=problem.reason)
            raise

    async def _reply(self, http: BaseRequest, request: Request, started: float, deadline: float) -> bytes:
        service = self._service
        try:
            service.load.begin(request.kind)
            try:
                with service.tracing.span(request, http.headers) if service.tracing.enabled else _UNTRACED:
                    done = await interpret_async(service.pool, service.background, service.catalog, request, deadline)
            finally:
                service.load.end(request.kind)
            size = sum(len(value) for outcome in done.outcomes for value in outcome.values)
            reply = await service.background.run(size, deadline, encode_reply, request.uid, done.reply)
        except InterpError as error:
            return self._failed(request, error, started)
        except asyncio.CancelledError:
            self._count(request, "gone", started)
            raise
        except Exception:
            LOGGER.exception("an interpretation failed through a mistake of ours", extra={"uid": request.uid})
            return self._failed(request, InternalError("an internal error; the server's log has the details"), started)
        service.request_metrics.add(done, perf_counter() - started)
        if done.reply.warnings or any(outcome.printed for outcome in done.outcomes):
            self._remark(request, done)
        if service.seen:
            service.seen(request, done.reply)
        return reply

    def _remark(self, request: Request, done: Interpretation) -> None:
        about = {"uid": request.uid, "operation": request.operation.name, "kind": str(request.kind)}
        for warning in done.reply.warnings:
            self._service.requests.warn(warning, **about)
        for offer, outcome in zip(done.offers, done.outcomes, strict=True):
            if outcome.printed:
                printed = _printed(request, outcome.printed)
                self._service.requests.note("a script printed", **about, script=offer.script.name, printed=printed)

    def _failed(self, request: Request, error: InterpError, started: float) -> bytes:
        outcome = "busy" if error.code == 429 else error.fault
        seconds = self._count(request, outcome, started)
        fields = {"object": _shown(request)} if self._service.settings.log_objects else {}
        if isinstance(error, ScriptError) and error.printed:
            fields["printed"] = _printed(request, error.printed)
        self._service.requests.warn(
            str(error), uid=request.uid, operation=request.operation.name, kind=str(request.kind), fault=outcome,
            code=error.code, seconds=round(seconds, 6), **fields,
        )  # fmt: skip
        if isinstance(error, LimitError) and error.limit == "time":
            # Where it was when its time was up is chance, and Karmada makes an event of every new text.
            error.line, error.place, error.function = None, "", request.operation.function
        return encode_failure(request.uid, error)

    def _unreadable(self, body: bytes, error: RequestError) -> bytes:
        """A request that is wrong inside a sound envelope is answered in it; without a uid there is no answering."""
        try:
            envelope = msgspec.json.decode(body, type=_Envelope)
        except UNREADABLE:
            envelope = None
        is_sound = (
            envelope is not None
            and 1 <= len(envelope.request.uid) <= LONGEST_UID
            and (envelope.api_version, envelope.kind) == (CONFIG_API, KIND)
        )
        if envelope is None or not is_sound:
            raise HttpProblem(error.code, "envelope", str(error))
        self._service.metrics.count("unknown", "unknown", "request").inc()
        self._service.requests.warn(str(error), uid=envelope.request.uid, code=error.code, fault=error.fault)
        return encode_failure(envelope.request.uid, error)

    def _count(self, request: Request, outcome: str, started: float) -> float:
        seconds = perf_counter() - started
        self._service.metrics.count(request.operation.name, self._service.label(request.kind), outcome).inc()
        self._service.metrics.time_request(request.operation.name).observe(seconds)
        return seconds


def address_check(networks: list[str]) -> Callable[[str], None] | None:
    """Raises `HttpProblem` for an address that may not call; None if every one may. An IPv4 caller may come with an
    IPv6 address."""
    if not networks:
        return None
    allowed = [ipaddress.ip_network(network) for network in networks]

    @lru_cache(1024)
    def admits(address: str) -> bool:
        try:
            parsed = ipaddress.ip_address(address.partition("%")[0])
        except ValueError:
            return False
        mapped = getattr(parsed, "ipv4_mapped", None)
        return any((mapped or parsed) in network for network in allowed)

    def check(address: str) -> None:
        if not admits(address):
            raise HttpProblem(403, "address", "calls from this address are not allowed")

    return check


def _shown(request: Request) -> str:
    """The object for the log; never one that is, holds or looks like a Secret, whatever the envelope calls it."""
    if holds_secret(request.object):
        return WITHHELD
    return request.object[:_LONGEST_LOGGED].decode(errors="replace")


def _printed(request: Request, text: str) -> str:
    return WITHHELD if holds_secret(*request.arguments()) else text[:_LONGEST_PRINTED]
