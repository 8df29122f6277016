"""What every endpoint with a body does first: find out its budget, read the body, distrust the names in it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp.web_request import BaseRequest

from interpreters.core.errors import RequestError
from interpreters.core.kinds import GroupVersionKind
from webhook.endpoints.service import Service
from webhook.server.bodies import HttpProblem, read_body
from webhook.server.settings import Settings
from webhook.server.target import parse_target

_LONGEST_NAME = 253  # of a group; versions and kinds are shorter still


@asynccontextmanager
async def received(request: BaseRequest, service: Service) -> AsyncIterator[tuple[bytes, float]]:
    """The body, and when the answer is due on the event loop's clock. Its bytes count until the block is left, so that
    no endpoint holds more than `maxBytes` says. Raises `HttpProblem`."""
    settings = service.settings
    deadline = asyncio.get_running_loop().time() + budget_of(request, settings)
    room = service.load.room()
    service.load.requests += 1
    try:
        yield await read_body(request, settings.max_body, deadline, room.hold), deadline
    finally:
        service.load.requests -= 1
        room.leave()


def budget_of(request: BaseRequest, settings: Settings) -> float:
    """Seconds to answer in: what the caller gives, less a margin. Raises `HttpProblem`."""
    target = parse_target(request.raw_path)
    if target.problem:
        raise HttpProblem(400, "timeout", target.problem)
    budget = min(target.timeout or settings.timeout_seconds, settings.timeout_seconds_most)
    return budget - min(settings.margin_seconds, budget / 4)


def checked_names(kind: GroupVersionKind, *names: str) -> GroupVersionKind:
    """The kind, if its names are of a length that searching among the known ones can stand, and those of the object of
    one that a ledger can."""
    if max(map(len, kind)) > _LONGEST_NAME:
        raise RequestError(f"kind: expected names of at most {_LONGEST_NAME} characters")
    if names and max(map(len, names)) > _LONGEST_NAME:
        raise RequestError(f"names, namespaces and uids: expected at most {_LONGEST_NAME} characters each")
    return kind
