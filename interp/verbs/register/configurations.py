"""Writing to a live Karmada: applying what is registered, taking it back, and having Karmada ask again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from estimator.clusters.apiserver import ApiError, ApiServer
from estimator.clusters.listing import get_object
from interp.registered import CONFIGURATIONS, configurations
from interp.verbs.register.control_plane import live_objects, path_of
from interpreters.core.kinds import GroupVersionKind
from webhook.registration.ownership import LABELS, MANAGER, addresses, is_made_by_interp

ADMISSIONS: Final = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
_TOUCHED: Final = "interp.dev/touched"
_MISSING, _CONFLICT = 404, 409
_REFUSALS: Final = (400, 403, 409, 422)  # of one object: a right is missing, or an admission webhook says no
_REFUSED_IN_VAIN: Final = 10


@dataclass(frozen=True, slots=True)
class LiveConfiguration:
    """A configuration by its path, and as it is there now; None if it is not."""

    path: str
    configuration: Mapping[str, Any] | None

    @property
    def shown(self) -> str:
        return self.path.rsplit("/", 2)[1] + "/" + self.path.rsplit("/", 1)[1]

    @property
    def foreign(self) -> str | None:
        """Why it does not look like ours, None if it does or is not there."""
        if self.configuration is None or is_made_by_interp(self.configuration):
            return None
        (label, value), *_ = LABELS.items()
        called = ", ".join(addresses(self.configuration)) or "nobody"
        return (
            f"{self.shown} does not look as if interp had made it: it calls {called}, without a label {label}={value}"
        )


def paths(name: str) -> tuple[str, str]:
    """Of what interp registers under a name: for Karmada, and for admission."""
    return f"{CONFIGURATIONS}/{name}", f"{ADMISSIONS}/{name}-admission"


def path_to(document: Mapping[str, Any]) -> str:
    return f"/apis/{document['apiVersion']}/{document['kind'].lower()}s/{document['metadata']['name']}"


async def read_configuration(server: ApiServer, path: str) -> LiveConfiguration:
    """Raises `ApiError`."""
    return LiveConfiguration(path, await get_object(server, path))


def displaced(live: LiveConfiguration, document: Mapping[str, Any]) -> Iterator[str]:
    """What applying the document would take the place of: somebody else's configuration, or another server of ours."""
    if live.configuration is None:
        return
    if live.foreign:
        yield f"{live.foreign}; it would be replaced, and --name gives ours another name"
        return
    now, then = addresses(live.configuration), addresses(document)
    if now and now != then:
        yield (
            f"{live.shown} calls {', '.join(now)} now and would call {', '.join(then)} instead; "
            "a second server beside it gets an object of its own by --name"
        )


async def apply(server: ApiServer, live: LiveConfiguration, document: Mapping[str, Any]) -> str:
    """Apply one object, provided that it still is what was looked at; a line about it. Raises `ApiError`."""
    version = ((live.configuration or {}).get("metadata") or {}).get("resourceVersion")
    metadata = {**document["metadata"], **({"resourceVersion": version} if version else {})}
    try:
        await server.apply(live.path, MANAGER, msgspec.json.encode({**document, "metadata": metadata}))
    except ApiError as error:
        if error.status == _CONFLICT:
            changed = f"{live.shown} changed after it was looked at; nothing was applied to it, run the same again"
            raise ApiError(_CONFLICT, changed) from None
        if error.status == _MISSING:
            raise ApiError(_MISSING, f"{error}; is {server.address} the API server of Karmada?") from None
        raise
    return f"{live.shown} applied to {server.address}"


async def remove(server: ApiServer, live: LiveConfiguration) -> str:
    """Delete one object; a line about it, also if it is not there. Raises `ApiError`."""
    if live.configuration is not None:
        try:
            await server.delete(live.path)
        except ApiError as error:
            if error.status != _MISSING:
                raise
        else:
            return f"{live.shown} removed from {server.address}"
    return f"{live.shown} is not there"


async def registered_names(server: ApiServer) -> list[str]:
    """Under which names interp is registered with Karmada."""
    return [str(one["metadata"]["name"]) async for one in configurations(server) if is_made_by_interp(one)]


async def touchable(server: ApiServer, kinds: Collection[GroupVersionKind]) -> list[str]:
    """The paths of all objects of these kinds. They are read to the end before any is touched: a list that is read
    slowly is forgotten by the server before its last page."""
    return [path for kind in sorted(kinds) async for path in _paths_of(server, kind)]


async def _paths_of(server: ApiServer, kind: GroupVersionKind) -> AsyncIterator[str]:
    root, _, plural = (await path_of(server, kind) or "").rpartition("/")
    async for obj in live_objects(server, kind):
        metadata = obj["metadata"]
        scope = f"/namespaces/{metadata['namespace']}" if metadata.get("namespace") else ""
        yield f"{root}{scope}/{plural}/{metadata['name']}"


@dataclass(frozen=True, slots=True)
class Touched:
    """How many objects were touched, and what was said of those that could not be."""

    count: int
    refused: tuple[str, ...] = ()


async def touch(server: ApiServer, objects: Collection[str]) -> Touched:
    """Have Karmada ask again about these objects, as far as they are still there. Raises `ApiError`.

    Karmada asks when an object changes. An annotation set and taken away again is two changes that leave no trace. An
    object that may not be changed keeps none of the others from it, unless none of the first may.
    """
    count, refused = 0, list[str]()
    for path in objects:
        try:
            for value in (datetime.now(UTC).isoformat(), None):
                await server.merge(path, msgspec.json.encode({"metadata": {"annotations": {_TOUCHED: value}}}))
            count += 1
        except ApiError as error:
            if error.status in _REFUSALS:
                refused.append(str(error))
            elif error.status != _MISSING:  # deleted since it was listed
                raise ApiError(
                    error.status, f"{error}; {count} of {len(objects)} objects were touched before"
                ) from None
        if not count and len(refused) >= _REFUSED_IN_VAIN:
            break
    return Touched(count, tuple(refused))
