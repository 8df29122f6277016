"""Lists of an API server read page by page, so that memory stays flat however many objects there are."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

import aiohttp
import msgspec

from estimator.snapshot.apiserver import ApiError, ApiServer, worded

_PAGE: Final = 500
_NOT_FOUND: Final = 404
_UNREACHABLE: Final = 503


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
        try:
            page = msgspec.json.decode(await server.get(path, query), type=_Page)
        except ApiError as error:
            if error.status == _NOT_FOUND:
                return
            raise
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise ApiError(_UNREACHABLE, f"{server.address}{path}: cannot be read: {worded(error)}") from None
        except msgspec.DecodeError as error:
            raise ApiError(_UNREACHABLE, f"{server.address}{path}: not a list: {error}") from None
        yield [bytes(item) for item in page.items or ()]
        if not page.metadata.continuation:
            return
        query["continue"] = page.metadata.continuation
