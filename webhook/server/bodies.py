"""Reading a request's body: how large, how packed, how long it may take; and the answer when it breaks those rules."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Callable
from functools import lru_cache

from aiohttp import ClientPayloadError
from aiohttp.http_exceptions import BadHttpMessage
from aiohttp.web_exceptions import HTTPRequestEntityTooLarge
from aiohttp.web_request import BaseRequest

BODY_SECONDS = 5.0
"""Karmada sends a body at once, whatever time it gives for the answer."""


class HttpProblem(Exception):
    """A request that cannot be answered in its own envelope: `status` is HTTP's, `reason` is for metrics."""

    def __init__(self, status: int, reason: str, message: str, **headers: str) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.message = message
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


async def read_body(
    request: BaseRequest, limit: int, deadline: float, hold: Callable[[int], None] = lambda size: None
) -> bytes:
    """The body, unpacked, of at most `limit` bytes. `hold` hears of every byte kept. Raises `HttpProblem`."""
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
        hold(len(raw))
    else:
        raw = await _receive(request, limit, deadline, hold)
    encoding = headers.get("Content-Encoding")
    if encoding is None or encoding == "identity":
        return raw
    if encoding.lower() != "gzip":
        message = f"Content-Encoding {encoding[:40]} is not understood; send gzip or none"
        raise HttpProblem(415, "content-encoding", message, Accept_Encoding="gzip")
    unpacked = unpack(raw, limit)
    hold(len(unpacked) - len(raw))
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


async def _receive(request: BaseRequest, limit: int, deadline: float, hold: Callable[[int], None]) -> bytes:
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
                hold(len(chunk))
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
