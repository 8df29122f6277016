"""Bindings, their objects, and quotas of a live Karmada."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote

import msgspec

from estimator.accounting.demand import ResourceReference
from estimator.accounting.sources.quota_files import GivenQuotas
from estimator.clusters.apiserver import ApiServer
from estimator.clusters.listing import get_object, list_objects
from estimator.quotas.objects import Quota, read_quotas
from interpreters.core.errors import InterpError
from interpreters.core.karmada.api import BINDINGS, FEDERATED_QUOTA

_QUOTAS: Final = {
    FEDERATED_QUOTA.kind: FEDERATED_QUOTA.path(),
    "ResourceQuota": "/api/v1/resourcequotas",
}
GRACE_SECONDS: Final = 60.0
"""What was admitted that shortly before a list was taken may not be in it yet."""

_NEVER: Final = float("-inf")

log = logging.getLogger("interp.accounting")


async def live_bindings(server: ApiServer) -> AsyncIterator[list[bytes]]:
    """Every ResourceBinding and ClusterResourceBinding. Raises `ApiError`."""
    for path in (binding.path() for binding in BINDINGS):
        async for page in list_objects(server, path):
            yield page


async def live_namespaces(server: ApiServer) -> list[bytes]:
    """Every Namespace, as JSON with its kind. Raises `ApiError`."""
    found: list[bytes] = []
    async for page in list_objects(server, "/api/v1/namespaces"):
        for item in page:
            named = {**msgspec.json.decode(item, type=dict[str, msgspec.Raw]), "apiVersion": "v1", "kind": "Namespace"}
            found.append(msgspec.json.encode(named))
    return found


@dataclass(slots=True)
class LiveObjects:
    """Single objects of a live Karmada, found by what a binding says of them."""

    server: ApiServer
    _plurals: dict[str, dict[str, str]] = field(default_factory=dict, init=False)

    async def get(self, reference: ResourceReference, namespace: str) -> dict[str, Any] | None:
        """The object; None when there is none, or the server does not know its kind. Raises `ApiError`."""
        version = reference.api_version
        path = f"/apis/{version}" if "/" in version else f"/api/{version}"
        if reference.kind not in self._plurals.get(version, {}):
            self._plurals[version] = await self._discover(path)
        plural = self._plurals[version].get(reference.kind)
        if plural is None:
            return None
        place = f"/namespaces/{quote(namespace, safe='')}" if namespace else ""
        return await get_object(self.server, f"{path}{place}/{plural}/{quote(reference.name, safe='')}")

    async def _discover(self, path: str) -> dict[str, str]:
        found = await get_object(self.server, path) or {}
        resources = found.get("resources") or ()
        return {resource["kind"]: resource["name"] for resource in resources if "/" not in resource["name"]}


async def live_quotas(server: ApiServer) -> list[Quota]:
    """Every quota of the control plane. Raises `ApiError`."""
    objects = []
    for kind, path in _QUOTAS.items():
        async for page in list_objects(server, path):
            objects += [{**msgspec.json.decode(item), "kind": kind} for item in page]
    return read_quotas(objects)


@dataclass(slots=True)
class LiveQuotas:
    """Quotas of a live control plane for admission, read again after `seconds`; the last good ones count meanwhile."""

    server: ApiServer
    seconds: float = 10.0
    told: Callable[[str | None], None] = lambda problem: None
    """Hears after each reading what went wrong, None when nothing did; the first that fails raises instead."""

    _known: GivenQuotas = field(default_factory=GivenQuotas, init=False)
    _read_at: float = field(default=_NEVER, init=False)
    _reading: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def of_namespace(self, namespace: str) -> Sequence[Quota]:
        if self._is_due and (self._read_at == _NEVER or not self._reading.locked()):
            async with self._reading:
                if self._is_due:
                    await self._read()
        return await self._known.of_namespace(namespace)

    async def every(self) -> Sequence[Quota]:
        """All of them. Raises `ApiError` when they could never be read."""
        await self.of_namespace("")
        return self._known.every

    async def unread(self) -> str | None:
        """Why there are no quotas to decide by; None when there are."""
        try:
            await self.of_namespace("")
        except InterpError as error:
            return str(error)
        return None

    @property
    def _is_due(self) -> bool:
        return time.monotonic() - self._read_at >= self.seconds

    async def _read(self) -> None:
        try:
            self._known = GivenQuotas(await live_quotas(self.server))
        except InterpError as error:
            if self._read_at == _NEVER:
                log.warning("quotas cannot be read yet: %s", error)
                raise
            self.told(str(error))
        else:
            self.told(None)
        self._read_at = time.monotonic()
