"""The objects of the matrix: out of the case tables of the bundled kinds, with the change that scales each of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import msgspec

from interpreters.cases import case_files, read_cases
from interpreters.catalog import Catalog
from interpreters.core.division import Division
from interpreters.core.engine import Limits
from interpreters.core.errors import InterpError
from interpreters.core.karmada.answers import is_native
from interpreters.core.kinds import GroupVersionKind
from interpreters.division_proof import bundled_tables
from interpreters.interpretation import interpret, load_functions, request_for
from interpreters.sandbox.runner import SandboxRunner
from interpreters.scan import scan
from tests.live.peers import permissive
from webhook.registration.rules import COMPONENTS, REPLICAS, REVISION, declared_division

_FEWEST, _MOST = 2, 60  # pods of a sample: enough to share out, not more than the members have room for
_ROLE_SIZES: Final = ("replicas", "parallelism", "numNodes", "instances")  # looked at before any other number
_ADDED: Final = (2, 4, 8)  # a role may have several pods a task, or several tasks a pod


class Counter:
    """Counts the pods that an object asks for, exactly, by the bundled scripts."""

    def __init__(self, runner: SandboxRunner) -> None:
        found = scan([], bundled="lua")
        self._runner = runner
        self.catalog = Catalog.build(found, load_functions(runner, found))
        self._known: dict[bytes, tuple[int, ...]] = {}

    @property
    def kinds(self) -> list[GroupVersionKind]:
        """All that may be registered; those that a script was written for come before further versions of them."""
        foreign = [kind for kind in self.catalog.kinds if not is_native(kind)]
        return sorted(foreign, key=lambda kind: kind != self.home(kind))

    def home(self, kind: GroupVersionKind) -> GroupVersionKind:
        """The kind whose script answers, which may be one of another version."""
        return self.catalog.operations(kind)[0][1].candidate.kind or kind

    def resources(self, obj: Mapping[str, Any]) -> set[str]:
        """The names of what its pods request."""
        reply = interpret(self._runner, self.catalog, request_for(dict(obj), REPLICAS)).reply
        return set(reply.replica_requirements.resource_request or ()) if reply.replica_requirements else set()

    def roles(self, obj: Mapping[str, Any]) -> tuple[int, ...]:
        """The pods of each component. Raises `InterpError` for an object that a script refuses."""
        whole = {**obj, "metadata": {"name": "sample", "namespace": "sample"}}
        key = msgspec.json.encode(whole)
        if key not in self._known:
            operation = COMPONENTS if self._offers(obj, COMPONENTS) else REPLICAS
            reply = interpret(self._runner, self.catalog, request_for(whole, operation)).reply
            components = tuple(one.replicas for one in reply.components or ())
            self._known[key] = components or (reply.replicas or 0,)
        return self._known[key]

    def pods(self, obj: Mapping[str, Any]) -> int:
        return sum(self.roles(obj))

    def revised(self, obj: Mapping[str, Any], replicas: int) -> dict[str, Any]:
        """The object with so many pods."""
        reply = interpret(self._runner, self.catalog, request_for(dict(obj), REVISION, replicas=replicas)).reply
        return dict(reply.changed_object or obj)

    def _offers(self, obj: Mapping[str, Any], operation: Any) -> bool:
        kind = GroupVersionKind.of(dict(obj))
        return any(offered == operation for offered, _ in self.catalog.operations(kind))

    def division(self, kind: GroupVersionKind) -> Division:
        declared = declared_division(dict(self.catalog.operations(kind)))
        assert declared, f"{kind} declares no Division"
        return declared


@contextmanager
def counter() -> Iterator[Counter]:
    with SandboxRunner(limits=Limits(seconds=60)) as runner:  # beside five servers on two cores
        yield Counter(runner)


@dataclass(frozen=True, eq=False)
class Sample:
    """One object of a kind, without a namespace; no two are the same."""

    kind: GroupVersionKind
    division: Division
    object: dict[str, Any]
    scaling: tuple[dict[str, Any], ...]  # a JSON Patch that gives a role more pods; empty if no number does

    @property
    def name(self) -> str:
        return str(self.object["metadata"]["name"])

    @cached_property
    def scaled(self) -> dict[str, Any]:
        copy: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self.object))
        for change in self.scaling:
            *parents, last = _keys(change["path"])
            _at(copy, parents)[last] = change["value"]
        return copy


def samples_of(kind: GroupVersionKind, counter: Counter) -> list[Sample]:
    """The first object of the kind's case table that can be shared out, and the one with the most roles."""
    usable: dict[bytes, dict[str, Any]] = {}
    home = counter.home(kind)
    for case in (case for file in case_files(bundled_tables()[home]) for case in read_cases(file)):
        if case.want_error is None and GroupVersionKind.of(case.object) == home:
            metadata = case.object.get("metadata") or {}
            kept = {name: metadata[name] for name in ("labels", "annotations") if metadata.get(name)}
            obj = {name: value for name, value in case.object.items() if name != "status"}
            obj |= {"apiVersion": kind.api_version, "metadata": kept}
            try:
                if _FEWEST <= counter.pods(obj) <= _MOST:
                    usable.setdefault(msgspec.json.encode(obj), obj)
            except InterpError:
                continue  # a case about an object that is wrong
    assert usable, f"no case of {kind} has {_FEWEST} to {_MOST} pods"
    objects = [obj for obj in usable.values() if any(_scaling(obj, counter))] or list(usable.values())
    richest = max(objects, key=lambda obj: (len(counter.roles(obj)), counter.pods(obj)))
    chosen = [objects[0]] if richest is objects[0] else [objects[0], richest]
    # Two kinds of one name must not share a binding, which is named after the object and the kind.
    names = [f"{kind.group.split('.')[0]}-{kind.version}-{number}" for number in range(len(chosen))]
    return [
        Sample(kind, counter.division(kind), {**obj, "metadata": {**obj["metadata"], "name": name}},
               tuple(_scaling(obj, counter)))
        for name, obj in zip(names, chosen, strict=True)
    ]  # fmt: skip


def batches(kinds: Sequence[GroupVersionKind]) -> list[list[GroupVersionKind]]:
    """Kinds that one control plane can have together: it shows Karmada one version of each."""
    found: list[list[GroupVersionKind]] = []
    for kind in kinds:
        names = (kind.group, kind.kind)
        room = next((batch for batch in found if names not in {(one.group, one.kind) for one in batch}), None)
        if room is None:
            found.append([kind])
        else:
            room.append(kind)
    return found


def definitions(kinds: Sequence[GroupVersionKind]) -> list[dict[str, Any]]:
    return [permissive(kind.group, kind.version, kind.kind) for kind in kinds]


def _scaling(obj: dict[str, Any], counter: Counter) -> Iterator[dict[str, Any]]:
    """The first number of the object that makes it ask for more pods when it grows."""
    pods = counter.pods(obj)
    numbers = sorted(_numbers(obj.get("spec"), ("spec",)), key=lambda found: found[0][-1] not in _ROLE_SIZES)
    for path, number in numbers:
        for added in _ADDED:
            change = {"op": "replace", "path": "/" + "/".join(map(_escaped, path)), "value": number + added}
            copy = msgspec.json.decode(msgspec.json.encode(obj))
            _at(copy, path[:-1])[path[-1]] = number + added
            try:
                if pods < counter.pods(copy) <= _MOST:
                    yield change
                    return
            except InterpError:
                continue


def _numbers(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], int]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in inside:
        if type(below) is int:
            yield (*path, key), below
        yield from _numbers(below, (*path, key))


def _at(value: Any, path: Sequence[Any]) -> Any:
    for key in path:
        value = value[key]
    return value


def _escaped(key: Any) -> str:
    return str(key).replace("~", "~0").replace("/", "~1")


def _keys(pointer: str) -> list[Any]:
    keys = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    return [int(key) if key.isdigit() else key for key in keys]
