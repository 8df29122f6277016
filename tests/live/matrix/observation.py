"""What became of the objects: their bindings, and their copies in the members without what differs from run to run."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from interpreters.core.kinds import GroupVersionKind
from tests.live.api import Api, collection, named
from tests.live.matrix.cells import STEP_LABEL, Cell
from tests.live.peers import ControlPlane

CALM = 5.0  # seconds without any change, after which Karmada has done what it was to do
STANDSTILL = 40.0  # after which it will not do what is still missing
PATIENCE = 300.0
_OF_THE_SERVER = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "selfLink", "namespace")
_WORK = "work.karmada.io/name"  # with a checksum of the namespace
_UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True)
class Seen:
    """One object as Karmada placed it."""

    bound: Mapping[str, Any] = field(default_factory=dict)  # replicas, replicaRequirements and components
    targets: Mapping[str, int | None] = field(default_factory=dict)  # cluster → replicas, as the scheduler wrote them
    copies: Mapping[str, dict[str, Any]] = field(default_factory=dict)  # cluster → object, without its origin
    steps: Mapping[str, str] = field(default_factory=dict)  # cluster → state of the template
    refusal: str = ""  # why the scheduler sent it nowhere
    observed: bool = False  # the scheduler has looked at the newest binding

    def is_settled(self, step: int) -> bool:
        """Whether it is where the scheduler wants it, in the state of this step."""
        there = set(self.targets) == set(self.copies) and set(self.steps.values()) <= {str(step)}
        return self.observed and there and bool(self.copies or self.refusal)


Snapshot = Mapping[tuple[str, str, str], Seen]


def observe(plane: ControlPlane, kinds: Collection[GroupVersionKind]) -> dict[tuple[str, str, str], Seen]:
    """All objects of these kinds at once, by kind, namespace and name."""
    copies: dict[tuple[str, str, str], dict[str, dict[str, Any]]] = {}
    for member in plane.members:
        for kind in kinds:
            for obj in _listed(member, kind.api_version, kind.kind):
                metadata = obj["metadata"]
                copies.setdefault((kind.kind, metadata["namespace"], metadata["name"]), {})[member.name] = obj
    seen = {}
    for binding in _listed(plane.karmada, "work.karmada.io/v1alpha2", "ResourceBinding"):
        resource = binding["spec"]["resource"]
        key = resource["kind"], resource.get("namespace", ""), resource["name"]
        seen[key] = _seen(binding, copies.get(key, {}))
    return seen


def _listed(api: Api, version: str, kind: str) -> list[dict[str, Any]]:
    path = collection({**named(version, kind, ""), "metadata": {}})
    items: list[dict[str, Any]] = api.ask("GET", path).body["items"]
    return items


def _seen(binding: Mapping[str, Any], copies: Mapping[str, dict[str, Any]]) -> Seen:
    spec, status = binding["spec"], binding.get("status", {})
    named_fields = ("replicas", "replicaRequirements", "components")
    failed = [
        one["message"] for one in status.get("conditions", []) if (one["type"], one["status"]) == ("Scheduled", "False")
    ]
    return Seen(
        bound={name: spec[name] for name in named_fields if spec.get(name)},
        targets={one["name"]: one.get("replicas") for one in spec.get("clusters", [])},
        copies={cluster: normal(obj) for cluster, obj in copies.items()},
        steps={cluster: obj["metadata"].get("labels", {}).get(STEP_LABEL, "") for cluster, obj in copies.items()},
        refusal=failed[0] if failed else "",
        observed=status.get("schedulerObservedGeneration") == binding["metadata"]["generation"],
    )


def normal(obj: Mapping[str, Any]) -> dict[str, Any]:
    """An object without what the API server adds, and with one name for its namespace and for every identity."""
    metadata = obj["metadata"]
    kept = {name: value for name, value in metadata.items() if name not in _OF_THE_SERVER}
    for name in ("labels", "annotations"):
        if name in kept:
            kept[name] = {
                key: _UUID.sub("<uid>", value).replace(metadata["namespace"], "<namespace>")
                for key, value in kept[name].items()
                if key not in (STEP_LABEL, _WORK)
            }
    return {**{name: value for name, value in obj.items() if name != "status"}, "metadata": kept}


@dataclass(frozen=True)
class Watch:
    """Reads until nothing changes any more."""

    plane: ControlPlane
    kinds: Collection[GroupVersionKind]

    def until(
        self, cells: Iterable[Cell], is_done: Callable[[Cell, Seen], bool], *, standstill: float = STANDSTILL
    ) -> dict[Cell, Seen]:
        """The cells once all are done and calm, or as they are when nothing moves any more."""
        cells = list(cells)
        end = time.monotonic() + PATIENCE
        changed, before = time.monotonic(), None
        while True:
            snapshot = observe(self.plane, self.kinds)
            now = {cell: snapshot.get(cell.key, Seen()) for cell in cells}
            if now != before:
                changed, before = time.monotonic(), now
            calm = time.monotonic() - changed
            done = all(is_done(cell, seen) for cell, seen in now.items())
            if calm >= standstill or (done and calm >= CALM) or time.monotonic() > end:
                return now
            time.sleep(0.5)
