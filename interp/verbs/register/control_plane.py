"""What a live Karmada holds of the kinds to register, who answers for them there, and what registering would change."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from estimator.clusters.apiserver import ApiServer
from estimator.clusters.listing import get_object, list_objects
from interp.registered import CONFIGURATIONS, configurations, customized_tuples, tuples_of
from interpreters.core.errors import InterpError
from interpreters.core.karmada.answers import answered_by_karmada
from interpreters.core.karmada.api import BINDINGS
from interpreters.core.karmada.releases import Release
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import Operation
from interpreters.core.wire import Reply
from webhook.registration.changes import Foreseen, Offers, change_of
from webhook.registration.others import OtherWebhooks

Answer = Callable[[dict[str, Any], Operation], Reply]
Tuples = Mapping[GroupVersionKind, Collection[Operation]]


@dataclass(frozen=True, slots=True)
class Change:
    """A binding that registering changes."""

    kind: GroupVersionKind
    namespace: str
    name: str
    what: str
    undivided: bool = False  # it is divided now and would no longer be

    def __str__(self) -> str:
        return f"{self.kind.kind} {self.namespace + '/' if self.namespace else ''}{self.name}: {self.what}"


@dataclass(slots=True)
class ControlPlane:
    """What a control plane holds of the kinds to register, as one reading found it."""

    bindings: list[dict[str, Any]] = field(default_factory=list)
    objects: dict[tuple[GroupVersionKind, str, str], dict[str, Any]] = field(default_factory=dict)
    registered: dict[GroupVersionKind, set[Operation]] = field(default_factory=dict)  # by the object of our name
    customized: dict[GroupVersionKind, set[Operation]] = field(default_factory=dict)
    others: OtherWebhooks = field(default_factory=OtherWebhooks)
    tells_components: bool = False  # some binding has components: the feature gate is on

    def changes(self, after: Tuples, release: Release, answer: Answer, *, gate: bool) -> Iterator[Change]:
        """The bindings that the next change of their object would change, too."""
        for binding in self.bindings:
            kind, namespace, name = _resource(binding)
            obj = self.objects.get((kind, namespace, name))
            if obj is None:
                continue
            offers = self._offers(kind, after, release)
            try:
                seen = change_of(binding, offers, gate=gate, answer=lambda op, obj=obj: answer(obj, op))  # type: ignore[misc]
            except InterpError as error:
                seen = Foreseen(f"the script fails on its object, so Karmada would not propagate it: {error}")
            if seen is not None:
                yield Change(kind, namespace, name, seen.what, seen.undivided)

    def _offers(self, kind: GroupVersionKind, after: Tuples, release: Release) -> Offers:
        """Karmada asks customizations, then webhooks by their names, then its own scripts."""
        first = _by_webhooks(self.others.asked_first(kind))
        first.update(dict.fromkeys(self.customized.get(kind, ()), "a ResourceInterpreterCustomization"))
        own = dict.fromkeys(answered_by_karmada(kind, release), "Karmada itself")
        following = {**own, **_by_webhooks(self.others.asked_next(kind))}
        return Offers(self.registered.get(kind, ()), after.get(kind, ()), first, following)


def _by_webhooks(named: Mapping[Operation, str]) -> dict[Operation, str]:
    return {operation: f"the webhook of {name}" for operation, name in named.items()}


async def read_control_plane(server: ApiServer, name: str, kinds: Collection[GroupVersionKind]) -> ControlPlane:
    """The bindings of these kinds, their objects, and who answers for them now. Raises `ApiError`."""
    control_plane = ControlPlane(
        registered=tuples_of(await get_object(server, f"{CONFIGURATIONS}/{name}") or {}),
        customized=await customized_tuples(server),
        others=await other_webhooks(server, name),
    )
    concerned = {*kinds, *control_plane.registered}
    for path in (binding.path() for binding in BINDINGS):
        async for page in list_objects(server, path):
            for item in page:
                binding = msgspec.json.decode(item)
                control_plane.tells_components |= bool((binding.get("spec") or {}).get("components"))
                if _resource(binding)[0] in concerned:
                    control_plane.bindings.append(binding)
    for kind in sorted({_resource(binding)[0] for binding in control_plane.bindings}):
        async for obj in live_objects(server, kind):
            metadata = obj.get("metadata") or {}
            control_plane.objects[kind, metadata.get("namespace", ""), metadata.get("name", "")] = obj
    return control_plane


async def other_webhooks(server: ApiServer, name: str) -> OtherWebhooks:
    """What the configurations of other names register."""
    found: list[tuple[str, Mapping[str, Any]]] = []
    async for other in configurations(server):
        of_name = str((other.get("metadata") or {}).get("name", ""))
        if of_name != name:
            webhooks = other.get("webhooks") or ()
            found += [(of_name, rule) for webhook in webhooks for rule in webhook.get("rules") or ()]
    return OtherWebhooks(name, tuple(found))


async def live_objects(server: ApiServer, kind: GroupVersionKind) -> AsyncIterator[dict[str, Any]]:
    """Every object of a kind that the server serves, in all namespaces."""
    path = await path_of(server, kind)
    if path is not None:
        async for page in list_objects(server, path):
            for item in page:
                yield {**msgspec.json.decode(item), "apiVersion": kind.api_version, "kind": kind.kind}


async def path_of(server: ApiServer, kind: GroupVersionKind) -> str | None:
    """The path of a kind's list, by discovery; None if the server does not serve it."""
    root = f"/apis/{kind.api_version}" if kind.group else f"/api/{kind.version}"
    served = (await get_object(server, root) or {}).get("resources") or ()
    names = [one["name"] for one in served if one.get("kind") == kind.kind and "/" not in one["name"]]
    return f"{root}/{names[0]}" if names else None


def _resource(binding: Mapping[str, Any]) -> tuple[GroupVersionKind, str, str]:
    resource = (binding.get("spec") or {}).get("resource") or {}
    kind = GroupVersionKind.parse(str(resource.get("apiVersion", "")), str(resource.get("kind", "")))
    return kind, str(resource.get("namespace") or ""), str(resource.get("name") or "")
