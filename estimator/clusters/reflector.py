"""Keeping a copy of one kind of object: list it page by page, watch it, list again when the server forgot our place.

The copy is updated in place while a list is read, so memory never holds two copies; what the finished list did not
mention is dropped at its end.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, Protocol, TypeVar

import aiohttp
import msgspec

from estimator.clusters.apiserver import ApiError, ApiServer, worded
from interpreters.core.decoder_errors import misfit
from interpreters.core.errors import InputError

log = logging.getLogger(__name__)

T = TypeVar("T")
Item_contra = TypeVar("Item_contra", contravariant=True)

PAGE_SIZE: Final = 500
_PIECE: Final = 50  # objects handled between two looks at the event loop
_REFUSALS_BEFORE_LIST: Final = 5  # a server restored from a backup refuses our version for ever, and not with 410


class Copy(Protocol[Item_contra]):
    """Where the objects of one kind go. `put` returns the key under which `drop` finds the object again."""

    def put(self, item: Item_contra) -> str: ...

    def drop(self, item: Item_contra) -> None: ...

    def keep_only(self, keys: set[str]) -> None: ...


@dataclass(frozen=True, slots=True)
class Resource(Generic[T]):
    """A kind of object on the API server, and how much of it is decoded."""

    path: str
    item: type[T]
    field_selector: str = ""

    def query(self, **parameters: str) -> dict[str, str]:
        return parameters | ({"fieldSelector": self.field_selector} if self.field_selector else {})


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait for what, in seconds."""

    first_delay: float = 0.8
    longest_delay: float = 30.0
    idle: float = 90.0  # bookmarks come about once a minute
    watch: float = 300.0  # how long one watch may last; spread so that watches do not end together

    def delay(self, failures: int) -> float:
        """Doubling, with jitter so that many clients do not come back at once."""
        full = min(self.longest_delay, self.first_delay * 2.0 ** min(failures, 16))
        return full * random.uniform(0.5, 1.0)  # noqa: S311 - spreading load, not guarding a secret


class _SilentStreamError(Exception):
    """An open watch said nothing for too long."""


class _Metadata(msgspec.Struct, rename="camel"):
    resource_version: str = ""


class _ListMetadata(msgspec.Struct, rename="camel"):
    resource_version: str = ""
    continue_token: str = msgspec.field(default="", name="continue")


class _Page(msgspec.Struct):
    metadata: _ListMetadata
    items: list[msgspec.Raw] | None = None


class _Versioned(msgspec.Struct, rename="camel"):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    code: int = 0
    message: str = ""


class _Event(msgspec.Struct):
    type: str
    object: msgspec.Raw


@dataclass(slots=True)
class Reflector(Generic[T]):
    """The state of one copy: whether it is complete, and until when it was known to be true."""

    cluster: str
    resource: Resource[T]
    copy: Copy[T]
    patience: Patience = field(default_factory=Patience)
    give_way: Callable[[], Awaitable[None]] | None = None
    """Awaited between pieces of work, so that answers go first."""

    synced: asyncio.Event = field(default_factory=asyncio.Event)
    problem: str = ""
    relists: int = 0
    watching: bool = False
    contact: float = float("-inf")
    _version: str = ""

    def fresh_until(self, now: float) -> float:
        """Until when the copy is known to be true: now while the watch is open, else the last sign of life."""
        return now if self.watching else self.contact

    async def run(self, server: ApiServer) -> None:
        """List and watch until cancelled."""
        failures = 0
        while True:
            started = time.monotonic()
            try:
                if not self._version:
                    await self._list(server)
                    failures = 0
                await self._watch(server)
                failures = self._ended(failures, started)
            except _SilentStreamError:
                failures = 0  # asked again at once; only when that fails, something is wrong
            except ApiError as error:
                failures = self._failed(error, failures, started)
                if error.is_gone or failures >= _REFUSALS_BEFORE_LIST:
                    self._version = ""
                elif error.retry_after:
                    await asyncio.sleep(min(error.retry_after, self.patience.longest_delay))
            except (aiohttp.ClientError, TimeoutError, OSError, msgspec.MsgspecError, InputError) as error:
                failures = self._failed(error, failures, started)
            finally:
                if self.watching:
                    self.watching, self.contact = False, time.monotonic()
            if failures:
                await asyncio.sleep(self.patience.delay(failures - 1))

    def _failed(self, error: Exception, failures: int, started: float) -> int:
        self.problem = worded(error)
        level = logging.INFO if isinstance(error, ApiError) and error.is_gone else logging.WARNING
        log.log(level, "cluster %s: %s: %s", self.cluster, self.resource.path, self.problem)
        return self._ended(failures, started) if self.watching else failures + 1

    def _ended(self, failures: int, started: float) -> int:
        """Failures in a row once a watch is over: one that lasted a while was none, one closed at once is one more."""
        return failures + 1 if time.monotonic() - started < self.patience.first_delay else 0

    async def _list(self, server: ApiServer) -> None:
        self.relists += 1
        seen: set[str] = set()
        query = self.resource.query(limit=str(PAGE_SIZE))
        decoder = msgspec.json.Decoder(self.resource.item)
        started = time.monotonic()
        while True:
            page = msgspec.json.decode(await server.get(self.resource.path, query), type=_Page)
            self.problem = ""
            items = page.items or []
            for start in range(0, len(items), _PIECE):
                seen.update(key for raw in items[start : start + _PIECE] if (key := self._put(raw, decoder)))
                await self._yield()
            if not page.metadata.continue_token:
                break
            query["continue"] = page.metadata.continue_token
        self.copy.keep_only(seen)
        self._version = page.metadata.resource_version
        self.contact = started  # a list shows how things were when it was begun
        self.synced.set()

    async def _watch(self, server: ApiServer) -> None:
        seconds = self.patience.watch * random.uniform(1.0, 1.5)  # noqa: S311 - spreading load
        query = self.resource.query(
            watch="1",
            allowWatchBookmarks="true",
            resourceVersion=self._version,
            timeoutSeconds=str(max(1, round(seconds))),
        )
        decoder = msgspec.json.Decoder(self.resource.item)
        try:
            async for lines in server.watch(self.resource.path, query, self.patience.idle):
                self.watching, self.problem = True, ""
                self.contact = time.monotonic()
                for start in range(0, len(lines), _PIECE):
                    self._apply(lines[start : start + _PIECE], decoder)
                    await self._yield()
        except TimeoutError as error:
            if not self.watching:
                raise
            self.watching = False  # true only until its last sign of life
            raise _SilentStreamError from error

    def _apply(self, lines: Sequence[bytes], decoder: msgspec.json.Decoder[T]) -> None:
        for line in lines:
            event = msgspec.json.decode(line, type=_Event)
            known = msgspec.json.decode(event.object, type=_Versioned)
            if event.type == "ERROR":
                raise ApiError(known.code, f"watch ended: {known.message or known.code}")
            if event.type in ("ADDED", "MODIFIED"):
                self._put(event.object, decoder)
            elif event.type == "DELETED":
                self.copy.drop(decoder.decode(event.object))
            self._version = known.metadata.resource_version or self._version

    def _put(self, raw: msgspec.Raw, decoder: msgspec.json.Decoder[T]) -> str:
        """The object's key. One that cannot be read is left out instead of holding up all the others."""
        try:
            return self.copy.put(decoder.decode(raw))
        except (InputError, msgspec.ValidationError) as error:
            why = misfit(error) if isinstance(error, msgspec.ValidationError) else error
            log.warning("cluster %s: %s: left out an object that cannot be read: %s",
                        self.cluster, self.resource.path, why)  # fmt: skip
            return ""

    async def _yield(self) -> None:
        await asyncio.sleep(0)
        if self.give_way is not None:
            await self.give_way()
