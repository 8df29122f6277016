"""What every endpoint with a body does first: find out its budget, read the body, distrust the names in it."""

from __future__ import annotations

import asyncio

from aiohttp.web_request import BaseRequest

from interpreters.core.errors import RequestError
from interpreters.core.kinds import GroupVersionKind
from webhook.bodies import HttpProblem, read_body
from webhook.settings import Settings
from webhook.target import parse_target

_LONGEST_NAME = 253  # of a group; versions and kinds are shorter still


async def received(request: BaseRequest, settings: Settings) -> tuple[bytes, float]:
    """The body, and when the answer is due on the event loop's clock. Raises `HttpProblem`."""
    deadline = asyncio.get_running_loop().time() + budget_of(request, settings)
    return await read_body(request, settings.max_body, deadline), deadline


def budget_of(request: BaseRequest, settings: Settings) -> float:
    """Seconds to answer in: what the caller gives, less a margin. Raises `HttpProblem`."""
    target = parse_target(request.raw_path)
    if target.problem:
        raise HttpProblem(400, "timeout", target.problem)
    budget = min(target.timeout or settings.timeout_seconds, settings.timeout_seconds_most)
    return budget - min(settings.margin_seconds, budget / 4)


def checked_names(kind: GroupVersionKind) -> GroupVersionKind:
    """The kind, if its names are of a length that searching among the known ones can stand."""
    if max(map(len, kind)) > _LONGEST_NAME:
        raise RequestError(f"kind: expected names of at most {_LONGEST_NAME} characters")
    return kind
