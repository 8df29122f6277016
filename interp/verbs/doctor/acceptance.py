"""Whether Karmada would accept a reply: its own rules on the envelope, the uid and the fields of each operation.

Pure, so that `interp doctor` and the tests on recorded requests judge alike.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from interpreters.core.decoder_errors import UNREADABLE, misfit
from interpreters.core.errors import InterpError
from interpreters.core.karmada.api import CONFIG_API
from interpreters.core.operations import BY_NAME, Answer
from interpreters.core.patch import apply
from interpreters.core.wire import KIND

Fields = Mapping[str, Any]


def problems_of(request: Fields, status: int, body: bytes) -> list[str]:
    """Why Karmada would report this answer to `request` (the envelope's inner part) as failed; empty if it would not.

    An honest `successful: false` is reported too: to Karmada it is an answer, to the operation it is a failure.
    """
    if status != 200:
        return [f"HTTP status {status}: Karmada takes nothing but 200 ({body[:200].decode(errors='replace')})"]
    try:
        envelope = msgspec.json.decode(body)
    except UNREADABLE as error:
        return [f"the body is {misfit(error)}"]
    if not isinstance(envelope, dict):
        return ["the body is not an object"]
    found = [
        f"{field}: expected {wanted}, got {envelope.get(field)!r}"
        for field, wanted in (("apiVersion", CONFIG_API), ("kind", KIND))
        if envelope.get(field) != wanted
    ]
    response = envelope.get("response")
    if not isinstance(response, dict):
        return [*found, "response: is missing"]
    if response.get("uid") != request.get("uid"):
        found.append(f"response.uid: expected {request.get('uid')!r}, got {response.get('uid')!r}")
    if not response.get("successful"):
        return [*found, *_failure(response)]
    return found + _CHECKS[BY_NAME[request["operation"]].answer](request, response)


def _failure(response: Fields) -> list[str]:
    status = response.get("status")
    if not isinstance(status, dict) or "message" not in status:
        return ["response.status: is mandatory when successful is false"]
    return [f"the operation failed with status {status.get('code')}: {status['message']}"]


def _replicas(request: Fields, response: Fields) -> list[str]:
    replicas = response.get("replicas")
    if not isinstance(replicas, int) or isinstance(replicas, bool):
        return [f"response.replicas: expected a whole number, got {replicas!r}"]
    return [] if replicas >= 0 else [f"response.replicas: {replicas} is negative; Karmada would take it and misbehave"]


def _components(request: Fields, response: Fields) -> list[str]:
    components = response.get("components")
    if not isinstance(components, list):
        return ["response.components: is missing"]
    found: list[str] = []
    seen: set[Any] = set()
    for index, component in enumerate(components):
        where = f"response.components[{index}]"
        name = component.get("name")
        if not isinstance(name, str) or not 1 <= len(name) <= 32:
            found.append(f"{where}.name: expected 1 to 32 characters, got {name!r}")
        if name in seen:
            found.append(f"{where}.name: duplicate name {name!r}")
        seen.add(name)
        replicas = component.get("replicas", 0)
        if not isinstance(replicas, int) or not 0 <= replicas < 2**31:
            found.append(f"{where}.replicas: expected 0 to {2**31 - 1}, got {replicas!r}")
    return found


def _patch(request: Fields, response: Fields) -> list[str]:
    patch, kind = response.get("patch"), response.get("patchType")
    if patch is None and kind is None:
        return []
    if not patch or not kind:
        return ["response.patch and patchType: both or neither"]
    if kind != "JSONPatch":
        return [f"response.patchType: expected JSONPatch, got {kind!r}"]
    try:
        apply(request["object"], msgspec.json.decode(b64decode(patch, validate=True)))
    except (binascii.Error, msgspec.DecodeError) as error:
        return [f"response.patch: expected base64 of a JSON list: {error}"]
    except (InterpError, ValueError, KeyError, IndexError, TypeError) as error:
        return [f"response.patch: does not apply to the object: {error}"]
    return []


def _status(request: Fields, response: Fields) -> list[str]:
    return [] if response.get("rawStatus") is not None else ["response.rawStatus: is missing"]


def _health(request: Fields, response: Fields) -> list[str]:
    healthy = response.get("healthy")
    return [] if isinstance(healthy, bool) else [f"response.healthy: expected true or false, got {healthy!r}"]


def _dependencies(request: Fields, response: Fields) -> list[str]:
    found: list[str] = []
    for index, dependency in enumerate(response.get("dependencies") or []):
        where = f"response.dependencies[{index}]"
        found += [f"{where}.{field}: is missing" for field in ("apiVersion", "kind") if not dependency.get(field)]
        if not dependency.get("name") and dependency.get("labelSelector") is None:
            found.append(f"{where}: expected a name or a labelSelector")
    return found


_CHECKS: Final[dict[Answer, Callable[[Fields, Fields], list[str]]]] = {
    Answer.REPLICAS: _replicas,
    Answer.COMPONENTS: _components,
    Answer.OBJECT: _patch,
    Answer.STATUS: _status,
    Answer.HEALTH: _health,
    Answer.DEPENDENCIES: _dependencies,
}
