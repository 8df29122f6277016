"""Karmada's own tests of its scripts, `testdata/*-test.yaml`, a document each."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from interpreters.cases.model import Case
from interpreters.core.errors import DocumentError, InterpError
from interpreters.core.operations import Operation, find_operation

OUTPUT: Final = {
    "replica": "replicas",
    "requires": "replicaRequirements",
    "components": "components",
    "revised": "object",
    "retained": "object",
    "aggregatedStatus": "object",
    "status": "rawStatus",
    "healthy": "healthy",
    "dependencies": "dependencies",
}
"""What Karmada calls the parts of an answer, and what we do."""

_WORDS: Final = {dict: "an object", list: "a list", int: "a whole number"}


def read_karmada_test(entry: Any, file: Path, position: int) -> Case:
    where = f"{file}: document {position + 1}"
    if not isinstance(entry, dict) or not isinstance(entry.get("operation"), str):
        raise DocumentError(where, "expected a test with an operation")
    operation = named_operation(entry["operation"], where)
    desired, observed = entry.get("desiredObj"), entry.get("observedObj")
    obj = desired or observed
    if not isinstance(obj, dict):
        raise DocumentError(where, "expected an object in desiredObj or observedObj")
    for key, kind in (("output", dict), ("observedObj", dict), ("statusItems", list), ("inputReplicas", int)):
        if not isinstance(entry.get(key), kind | None):
            raise DocumentError(f"{where}: {key}", f"expected {_WORDS[kind]}, got {entry[key]!r:.40}")
    output = entry.get("output")
    unknown = [key for key in output or {} if key not in OUTPUT]
    if unknown:
        raise DocumentError(f"{where}: output", f"unknown key {unknown[0]}; known are {', '.join(OUTPUT)}")
    return Case(
        name=str(entry.get("name") or f"document {position + 1}"),
        operation=operation,
        object=obj,
        file=file,
        position=position,
        observed=observed,
        status=entry.get("statusItems"),
        replicas=entry.get("inputReplicas") or 0,
        want={OUTPUT[key]: value for key, value in output.items()} if output else None,
        is_karmada=True,
    )


def named_operation(text: str, where: str) -> Operation:
    """The operation that a case names. Raises `DocumentError`."""
    try:
        return find_operation(text)
    except InterpError as error:
        raise DocumentError(f"{where}: operation", str(error)) from None
