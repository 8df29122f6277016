"""Objects of an API server: one by its path, or lists page by page, so that memory stays flat."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

import aiohttp
import msgspec

from estimator.clusters.apiserver import UNREACHABLE, ApiError, ApiServer, worded
from interpreters.core.decoder_errors import misfit

_PAGE: Final = 500
_NOT_FOUND: Final = 404


class _Metadata(msgspec.Struct, rename={"continuation": "continue"}):
    continuation: str = ""


class _Page(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    items: list[msgspec.Raw] | None = None


async def list_objects(server: ApiServer, path: str) -> AsyncIterator[list[bytes]]:
    """The objects of a list, a page at a time. A kind that the server does not have is an empty list.

    Raises `ApiError`, also when the server cannot be reached."""
    query = {"limit": str(_PAGE)}
    while True:
        body = await _body(server, path, query)
        if body is None:
            return
        try:
            page = msgspec.json.decode(body, type=_Page)
        except msgspec.DecodeError as error:
            raise ApiError(
                UNREACHABLE, f"{server.address}{path}: not a list: {misfit(error, whole='the answer')}"
            ) from None
        yield [bytes(item) for item in page.items or ()]
        if not page.metadata.continuation:
            return
        query["continue"] = page.metadata.continuation


async def get_object(server: ApiServer, path: str) -> dict[str, Any] | None:
    """One object; None when it is not there. Raises `ApiError`, also when the server cannot be reached."""
    body = await _body(server, path, {})
    if body is None:
        return None
    try:
        return msgspec.json.decode(body, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise ApiError(UNREACHABLE, f"{server.address}{path}: {misfit(error, whole='the answer')}") from None


async def _body(server: ApiServer, path: str, query: Mapping[str, str]) -> bytes | None:
    try:
        return await server.get(path, query)
    except ApiError as error:
        if error.status == _NOT_FOUND:
            return None
        raise
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise ApiError(UNREACHABLE, f"{server.address}{path}: cannot be read: {worded(error)}") from None
