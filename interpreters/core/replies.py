"""From what a script returned to a checked reply. A bad value is the script's error and names the field."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Raw

from interpreters.core.decoder_errors import UNREADABLE, misfit
from interpreters.core.errors import QuantityError, ReplyError, RequestError
from interpreters.core.json_values import decoded
from interpreters.core.operations import Answer
from interpreters.core.patch import diff
from interpreters.core.quantity import Quantity
from interpreters.core.reply_schemas import explain
from interpreters.core.requirements import (
    MOST_REPLICAS,
    Component,
    ComponentRequirements,
    Dependency,
    ReplicaRequirements,
)
from interpreters.core.wire import Reply, Request, shortened

LONGEST_NAME: Final = 32
R = TypeVar("R", bound=ComponentRequirements)

_components = msgspec.json.Decoder(list[Component])
_requirements = msgspec.json.Decoder(ReplicaRequirements | None)
_dependencies = msgspec.json.Decoder(list[Dependency])
_EMPTY: Final = (b"null", b"{}")


def build_reply(request: Request, values: tuple[bytes, ...]) -> Reply:
    """Check what the script returned and turn it into the reply to this request. Raises `ReplyError`."""
    try:
        return _BUILDERS[request.operation.answer](request, values)
    except UNREADABLE as error:  # workers check their own, but their word is not to be trusted
        raise ReplyError("", f"what was returned cannot be used: {misfit(error)}") from None


def _replicas(request: Request, values: tuple[bytes, ...]) -> Reply:
    replicas = msgspec.json.decode(values[0]) if values else None
    if isinstance(replicas, bool) or not isinstance(replicas, int | float):
        raise ReplyError("replicas", f"expected a number, got {_shown(replicas)}")
    # Karmada cuts fractions off here, and only here.
    replicas = int(replicas)
    if not 0 <= replicas <= MOST_REPLICAS:
        raise _out_of_range(replicas, "replicas")
    found: ReplicaRequirements | None = _decoded(_requirements, values[1:2], "replicaRequirements", Answer.REPLICAS)
    return Reply(replicas=replicas, replica_requirements=_canonical(found, "replicaRequirements"))


def _component_list(request: Request, values: tuple[bytes, ...]) -> Reply:
    components: list[Component] = _decoded(_components, values[:1], "components", Answer.COMPONENTS)
    seen: set[str] = set()
    for i, component in enumerate(components):
        where, name = f"components[{i}]", component.name
        if not 1 <= len(name) <= LONGEST_NAME:
            raise ReplyError(f"{where}.name", f"expected 1 to {LONGEST_NAME} characters, got {len(name)}: {name!r}")
        if name in seen:
            raise ReplyError(f"{where}.name", f"duplicate name {name!r}; names must be unique")
        seen.add(name)
        if not 0 <= component.replicas <= MOST_REPLICAS:
            raise _out_of_range(component.replicas, f"{where}.replicas")
        needed = component.replica_requirements
        canonical = _canonical(needed, f"{where}.replicaRequirements")
        if canonical is not needed:
            components[i] = msgspec.structs.replace(component, replica_requirements=canonical)
    warning = "no components: Karmada then treats the object as no workload at all and schedules no pods for it"
    return Reply(components=components, warnings=() if components else (warning,))


def _changed(request: Request, values: tuple[bytes, ...]) -> Reply:
    changed = msgspec.json.decode(values[0]) if values else None
    if not isinstance(changed, dict):
        raise ReplyError(
            "", f"expected the changed object, got {_shown(changed)}; did the function forget to return it?"
        )
    original = decoded(request.object, lambda why: RequestError(f"request.object: {why}"))
    patch = diff(original, changed)
    return Reply(patch=patch, changed_object=changed)


def _status(request: Request, values: tuple[bytes, ...]) -> Reply:
    raw = values[0] if values else b"null"
    if raw == b"[]":  # an empty Lua table has no kind of its own
        raw = b"{}"
    status = msgspec.json.decode(raw)  # also to see that it can be read at all, before it becomes part of an answer
    if not isinstance(status, dict):
        raise ReplyError("status", f"expected an object, got {_shown(status)}")
    return Reply(raw_status=Raw(raw))


def _health(request: Request, values: tuple[bytes, ...]) -> Reply:
    healthy = msgspec.json.decode(values[0]) if values else None
    if not isinstance(healthy, bool):
        raise ReplyError("healthy", f"expected true or false, got {_shown(healthy)}")
    return Reply(healthy=healthy)


def _dependency_list(request: Request, values: tuple[bytes, ...]) -> Reply:
    dependencies: list[Dependency] = _decoded(_dependencies, values[:1], "dependencies", Answer.DEPENDENCIES)
    for i, dependency in enumerate(dependencies):
        where = f"dependencies[{i}]"
        for field, text in (("apiVersion", dependency.api_version), ("kind", dependency.kind)):
            if not text:
                raise ReplyError(f"{where}.{field}", "expected a text, got an empty one")
        if not dependency.name and dependency.label_selector is None:
            raise ReplyError(where, "expected a name or a labelSelector, got neither")
    # Scripts collect them per pod template, so the same ConfigMap comes again and again; once is enough.
    return Reply(dependencies=list({msgspec.json.encode(one): one for one in dependencies}.values()))


_BUILDERS: Final[dict[Answer, Callable[[Request, tuple[bytes, ...]], Reply]]] = {
    Answer.REPLICAS: _replicas,
    Answer.COMPONENTS: _component_list,
    Answer.OBJECT: _changed,
    Answer.STATUS: _status,
    Answer.HEALTH: _health,
    Answer.DEPENDENCIES: _dependency_list,
}


def _decoded(decoder: msgspec.json.Decoder[Any], given: tuple[bytes, ...], root: str, answer: Answer) -> Any:
    """The value of the one text given, if any. Where a list is wanted, nil and the empty Lua table, which has no kind
    of its own, are an empty one."""
    raw = given[0] if given else b"null"
    if raw in _EMPTY and decoder is not _requirements:
        return []
    try:
        return decoder.decode(raw)
    except msgspec.ValidationError:
        pass  # perhaps only a null or a number for a quantity, which are fine
    value = msgspec.json.decode(raw)
    try:
        return msgspec.convert(tolerated(value), decoder.type)
    except msgspec.ValidationError as error:
        raise explain(answer, root, value, str(error)) from None


def tolerated(value: Any) -> Any:
    """Null is the same as absent, and a quantity may be a number."""
    if isinstance(value, list):
        return [tolerated(item) for item in value]
    if not isinstance(value, dict):
        return value
    plain = {key: tolerated(item) for key, item in value.items() if item is not None}
    amounts = plain.get("resourceRequest")
    if isinstance(amounts, dict):
        plain["resourceRequest"] = {
            name: str(amount) if type(amount) in (int, float) else amount for name, amount in amounts.items()
        }
    return plain


def _out_of_range(replicas: int, where: str) -> ReplyError:
    return ReplyError(where, f"expected 0 to {MOST_REPLICAS}, got {shortened(replicas)}")


def _canonical(needed: R | None, where: str) -> R | None:
    """The same requirements with every quantity checked and spelled as Kubernetes spells it."""
    if needed is None:
        return None
    amounts = {}
    for name, text in needed.resource_request.items():
        try:
            amount = amounts[name] = _canonical_amount(text)
        except QuantityError as error:
            raise ReplyError(f"{where}.resourceRequest.{name}", str(error)) from None
        if amount.startswith("-"):
            raise ReplyError(f"{where}.resourceRequest.{name}", f"expected an amount not below 0, got {text}")
    return needed if amounts == needed.resource_request else msgspec.structs.replace(needed, resource_request=amounts)


@lru_cache(4096)
def _canonical_amount(text: str) -> str:
    """Scripts return the same few amounts again and again. Texts of any length are refused, and so not kept."""
    return str(Quantity.parse(text))


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    kind = {str: "text", bool: "boolean", int: "number", float: "number", dict: "object", list: "list"}[type(value)]
    return f"{kind} {value!r:.60}" if not isinstance(value, dict | list) else f"a {kind}"
