"""Asking the scripts what pods an object stands for: the question that bindings, audits and the ledger share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interpreters.catalog import Catalog
from interpreters.core.division import Division
from interpreters.core.errors import InputError, ScriptError, UnknownTargetError
from interpreters.core.interpreted import Interpreted
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import BY_NAME
from interpreters.core.wire import Reply
from interpreters.interpretation import Runner, interpret, request_for


def interpreted(runner: Runner, catalog: Catalog, obj: Mapping[str, Any], *, components: bool = True) -> Interpreted:
    """What the scripts say. `components=False` asks for replicas alone. Raises `ScriptError` when one fails."""
    several = _ask(runner, catalog, obj, "InterpretComponent") if components else None
    parts = None if several is None else tuple(several.components or ())
    try:
        replicas = _ask(runner, catalog, obj, "InterpretReplica")
    except ScriptError:
        if parts is None:
            raise
        replicas = None  # the legacy fields are only tried for: components say it all
    division = division_of(catalog, GroupVersionKind.of(dict(obj)))
    if replicas is None:
        return Interpreted(parts, division=division)
    return Interpreted(parts, replicas.replicas, replicas.replica_requirements, division)


def division_of(catalog: Catalog, kind: GroupVersionKind) -> Division | None:
    """How the scripts that count a kind declare that it may be divided; None if they do not say."""
    from webhook.registration.rules import declared_division

    try:
        return declared_division(dict(catalog.operations(kind)))
    except InputError:
        return None


def _ask(runner: Runner, catalog: Catalog, obj: Mapping[str, Any], operation: str) -> Reply | None:
    request = request_for(dict(obj), BY_NAME[operation])
    try:
        return interpret(runner, catalog, request).reply
    except UnknownTargetError:
        return None
