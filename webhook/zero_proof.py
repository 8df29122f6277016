"""Seeing with our own eyes that a script leaves an object alone when it is asked to revise it to 0 replicas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from interpreters.cases import case_files, read_cases, served_as
from interpreters.catalog import Catalog, Offer
from interpreters.core.errors import InterpError
from interpreters.core.kinds import GroupVersionKind
from interpreters.interpretation import Runner, interpret, request_for
from interpreters.scan import Candidate, Origin, scan_bundled
from webhook.registration import SafeAtZero

Sample = tuple[str, dict[str, Any]]


def zero_proof(runner: Runner, catalog: Catalog, more: Sequence[Mapping[str, Any]] = ()) -> SafeAtZero:
    """A judge that runs the offer on every object of its case table, and on those of `more` that are of its kind."""
    tables = bundled_tables()

    def unsafe(kind: GroupVersionKind, offer: Offer) -> str | None:
        folder = tables.get(kind) if offer.source.origin is Origin.BUNDLED else offer.candidate.folder
        samples = [*_from_cases(folder, kind), *_of_kind(kind, more)]
        if not samples:
            return "no case shows it an object to prove that on; add one, or give --sample"
        for name, obj in samples:
            try:
                reply = interpret(runner, catalog, request_for(obj, offer.operation, replicas=0)).reply
            except InterpError as error:
                return f"it failed on {name}: {error}"
            if reply.patch:
                return f"it changed {reply.patch[0]['path']} of {name}"
        return None

    return unsafe


def bundled_tables() -> dict[GroupVersionKind, Path]:
    """Where the case table of each bundled kind is; a Starlark twin shares that of its Lua original."""
    return {
        kind: found.folder
        for found in scan_bundled("lua")
        if isinstance(found, Candidate) and found.folder
        for kind in found.kinds
        if kind
    }


def _from_cases(folder: Path | None, kind: GroupVersionKind) -> Iterator[Sample]:
    seen: set[bytes] = set()
    for file in case_files(folder) if folder else ():
        for case in (served_as(case, kind) for case in read_cases(file)):
            text = msgspec.json.encode(case.object)
            # A case that wants an error shows an object nobody could deploy.
            if case.want_error is None and GroupVersionKind.of(case.object) == kind and text not in seen:
                seen.add(text)
                yield f'case "{case.name}"', case.object


def _of_kind(kind: GroupVersionKind, objects: Sequence[Mapping[str, Any]]) -> Iterator[Sample]:
    for obj in objects:
        if GroupVersionKind.of(dict(obj)) == kind:
            yield f"sample {(obj.get('metadata') or {}).get('name', '')}".strip(), dict(obj)
