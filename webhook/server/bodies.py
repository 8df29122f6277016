"""What every endpoint with a body does first: find out its time, read the body (how large, how packed, how slow it may
be), and check the length of the names in it."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import lru_cache

from aiohttp import ClientPayloadError
from aiohttp.http_exceptions import BadHttpMessage
from aiohttp.web_exceptions import HTTPRequestEntityTooLarge
from aiohttp.web_request import BaseRequest

from interpreters.core.errors import RequestError
from interpreters.core.kinds import GroupVersionKind
from webhook.server.load import Load, Room
from webhook.server.problems import HttpProblem
from webhook.server.settings import Settings
from webhook.server.target import parse_target

BODY_SECONDS = 5.0
"""Karmada sends a body at once, whatever time it gives for the answer."""

_LONGEST_NAME = 253  # of a group; versions and kinds are shorter still


@asynccontextmanager
async def received(request: BaseRequest, settings: Settings, load: Load) -> AsyncIterator[tuple[bytes, float]]:
    """The body, and when the answer is due on the event loop's clock: after what the caller gives, less a margin. Its
    bytes count until the block is left, so that no endpoint holds more than `maxBytes` says. Raises `HttpProblem`."""
    target = parse_target(request.raw_path)
    if target.problem:
        raise HttpProblem(400, "timeout", target.problem)
    budget = min(target.timeout or settings.timeout_seconds, settings.timeout_seconds_most)
    deadline = asyncio.get_running_loop().time() + budget - min(settings.margin_seconds, budget / 4)
    room = Room(load)
    load.requests += 1
    try:
        yield await _body(request, settings.max_body, deadline, room), deadline
    finally:
        load.requests -= 1
        room.leave()


def checked_names(kind: GroupVersionKind, *names: str) -> GroupVersionKind:
    """The kind, if its names are of a length that searching among the known ones can stand, and those of the object of
    one that a ledger can."""
    if max(map(len, kind)) > _LONGEST_NAME:
        raise RequestError(f"kind: expected names of at most {_LONGEST_NAME} characters")
    if names and max(map(len, names)) > _LONGEST_NAME:
        raise RequestError(f"names, namespaces and uids: expected at most {_LONGEST_NAME} characters each")
    return kind


async def _body(request: BaseRequest, limit: int, deadline: float, room: Room) -> bytes:
    """The body, unpacked, of at most `limit` bytes, all of which take room. Raises `HttpProblem`."""
    headers = request.headers
    content_type = headers.get("Content-Type", "")
    if not _is_json(content_type):
        shown = content_type[:80] or "none"
        raise HttpProblem(415, "content-type", f"expected Content-Type application/json, got {shown}")
    length = request.content_length
    if length is not None and length > limit:
        raise _too_large(limit)
    content = request.content
    if content.is_eof():
        raw = content.read_nowait(-1)
        if len(raw) > limit:
            raise _too_large(limit)
        room.hold(len(raw))
    else:
        raw = await _receive(request, limit, deadline, room)
    encoding = headers.get("Content-Encoding")
    if encoding is None or encoding == "identity":
        return raw
    if encoding.lower() != "gzip":
        message = f"Content-Encoding {encoding[:40]} is not understood; send gzip or none"
        raise HttpProblem(415, "content-encoding", message, Accept_Encoding="gzip")
    unpacked = unpack(raw, limit)
    room.hold(len(unpacked) - len(raw))
    return unpacked


def unpack(packed: bytes, limit: int) -> bytes:
    """Gzip of one member and nothing behind it, in one pass that never holds more than `limit` bytes of its content.

    A body of many members would be many streams to set up, each for the bytes that are left.
    """
    stream = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        content = stream.decompress(packed, limit + 1)
    except zlib.error:
        raise HttpProblem(400, "gzip", "the body is not valid gzip, as its Content-Encoding says") from None
    if len(content) > limit:
        raise _too_large(limit)
    if not stream.eof:
        raise HttpProblem(400, "gzip", "the gzip body ends too early")
    if stream.unused_data:
        raise HttpProblem(400, "gzip", "the gzip body goes on behind its end; send one member and nothing else")
    return content


async def _receive(request: BaseRequest, limit: int, deadline: float, room: Room) -> bytes:
    """What has not arrived yet: bounded in size and time, so that a slow or endless sender holds nothing for long."""
    parts: list[bytes] = []
    total = 0
    try:
        async with asyncio.timeout_at(min(deadline, asyncio.get_running_loop().time() + BODY_SECONDS)):
            if request.headers.get("Expect", "").lower() == "100-continue":
                await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                request.writer.output_size = 0
            while chunk := await request.content.readany():
                total += len(chunk)
                if total > limit:
                    raise _too_large(limit)
                room.hold(len(chunk))
                parts.append(chunk)
    except TimeoutError:
        message = f"the body did not arrive within {BODY_SECONDS:g} s, or the request's timeout if that is less"
        raise HttpProblem(408, "slow", message, Connection="close") from None
    except (ClientPayloadError, BadHttpMessage, HTTPRequestEntityTooLarge) as error:
        raise HttpProblem(400, "body", "the body is not complete") from error
    return b"".join(parts)


@lru_cache(64)
def _is_json(content_type: str) -> bool:
    media, _, rest = content_type.partition(";")
    if media.strip().lower() != "application/json":
        return False
    parameters = [part.strip().lower().replace('"', "") for part in rest.split(";") if part.strip()]
    return all(not part.startswith("charset=") or part == "charset=utf-8" for part in parameters)


def _too_large(limit: int) -> HttpProblem:
    message = f"the body is larger than {limit} bytes; raise maxBody if such objects are meant to be interpreted"
    return HttpProblem(413, "too-large", message, Connection="close")
