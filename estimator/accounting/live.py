"""Bindings and quotas from a live Karmada: read page by page, so that memory stays flat however many there are."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from estimator.accounting.allowances import Allowance, read_allowances
from estimator.accounting.sources import GivenAllowances
from estimator.snapshot.apiserver import ApiError, ApiServer

BINDINGS: Final = (
    "/apis/work.karmada.io/v1alpha2/resourcebindings",
    "/apis/work.karmada.io/v1alpha2/clusterresourcebindings",
)
_QUOTAS: Final = {
    "FederatedResourceQuota": "/apis/policy.karmada.io/v1alpha1/federatedresourcequotas",
    "ResourceQuota": "/api/v1/resourcequotas",
}
_PAGE: Final = 500
_NOT_FOUND: Final = 404


class _ListMetadata(msgspec.Struct, rename={"continuation": "continue"}):
    continuation: str = ""


class _Page(msgspec.Struct):
    metadata: _ListMetadata = msgspec.field(default_factory=_ListMetadata)
    items: list[msgspec.Raw] | None = None


async def list_objects(server: ApiServer, path: str) -> AsyncIterator[list[bytes]]:
    """The objects of a list, a page at a time. A kind that the server does not have is an empty list."""
    query = {"limit": str(_PAGE)}
    while True:
        try:
            page = msgspec.json.decode(await server.get(path, query), type=_Page)
        except ApiError as error:
            if error.status == _NOT_FOUND:
                return
            raise
        yield [bytes(item) for item in page.items or ()]
        if not page.metadata.continuation:
            return
        query["continue"] = page.metadata.continuation


async def live_bindings(server: ApiServer) -> AsyncIterator[list[bytes]]:
    """Every ResourceBinding and ClusterResourceBinding."""
    for path in BINDINGS:
        async for page in list_objects(server, path):
            yield page


async def live_allowances(server: ApiServer) -> list[Allowance]:
    """Every quota of the control plane."""
    objects = []
    for kind, path in _QUOTAS.items():
        async for page in list_objects(server, path):
            objects += [{**msgspec.json.decode(item), "kind": kind} for item in page]
    return read_allowances(objects)


@dataclass(slots=True)
class LiveAllowances:
    """Quotas of a live control plane for admission, read again after `seconds`."""

    server: ApiServer
    seconds: float = 10.0
    _known: GivenAllowances = field(default_factory=GivenAllowances, init=False)
    _read_at: float = field(default=float("-inf"), init=False)

    async def allowances(self, namespace: str) -> Sequence[Allowance]:
        if time.monotonic() - self._read_at >= self.seconds:
            self._known = GivenAllowances(await live_allowances(self.server))
            self._read_at = time.monotonic()
        return await self._known.allowances(namespace)
