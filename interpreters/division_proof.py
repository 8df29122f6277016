"""Seeing with our own eyes that scripts keep what their kind declares: on every case object and on samples.

A kind that divides must be able to take any share: asked for all of its replicas it changes nothing, and asked for k of
them it asks for k afterwards, none larger than before. A kind that goes whole changes nothing, whatever number it is
asked for. Neither may ask what time it is: what holds now would not hold later.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec
from msgspec import structs

from interpreters.cases import case_files, read_cases
from interpreters.catalog import Catalog, Offer
from interpreters.core.errors import InterpError, ScriptError
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.languages import LUA
from interpreters.core.operations import OPERATIONS, Answer, Argument, Operation
from interpreters.core.quantity import Quantity
from interpreters.core.wire import Reply
from interpreters.interpretation import Runner, interpret, request_for
from interpreters.scan import Candidate, Origin, scan_bundled

Sample = tuple[str, dict[str, Any]]
_EVERY_SHARE: Final = 48  # up to so many replicas every share is tried, of more the edges and a spread between
_IDENTITY: Final = ("/apiVersion", "/kind", "/metadata", "/metadata/name", "/metadata/namespace")
_NONE: Final = Quantity.of(0)
_ANY_NUMBER: Final = (0, 1, 2, 3, 10, 1000, 2147483647)
_REPLICAS: Final = next(operation for operation in OPERATIONS if operation.answer is Answer.REPLICAS)
_REVISION: Final = next(operation for operation in OPERATIONS if Argument.REPLICAS in operation.arguments)


class Asked(Protocol):
    """Asks a script about an object."""

    def __call__(self, operation: Operation, obj: dict[str, Any], replicas: int = 0) -> Reply: ...


def against_division(ask: Asked, samples: Sequence[Sample]) -> str | None:
    """Why the objects cannot be divided, None if they can.

    An object may refuse a share by raising an error, as long as some other can be divided."""
    refusal, divided = "", False
    for name, obj in samples:
        try:
            before = ask(_REPLICAS, obj)
        except InterpError as error:
            return f"{_REPLICAS} failed on {name}: {error}"
        total = before.replicas or 0
        for share in shares(total):
            try:
                revised = ask(_REVISION, obj, share)
                after = ask(_REPLICAS, revised.changed_object or obj)
            except ScriptError as error:
                if ASKS_THE_CLOCK in str(error):
                    return f"{_REVISION} failed on {name}: {error}"
                refusal = refusal or f"{name} at {share} of {total}: {error}"
                continue
            if share == total and revised.patch:
                return f"asked for all {total} replicas of {name} it changed {revised.patch[0]['path']}"
            asked = f"of {name}, asked for {share} of {total} replicas,"
            if after.replicas != share:
                return f"{asked} it made {after.replicas}"
            if larger := _larger(before, after):
                return f"{asked} it made pods that ask for more {larger} than before"
            if renamed := next((step["path"] for step in revised.patch or () if step["path"] in _IDENTITY), None):
                return f"{asked} it changed {renamed}: Karmada would lose the object"
            divided = divided or share < total
    if not samples:
        return _NO_SAMPLE
    return None if divided else f"no object could be divided; {refusal or 'none has more than one replica'}"


def _larger(before: Reply, after: Reply) -> str | None:
    """A resource of which a pod of the share asks for more than a pod of the whole did: one pod stands for the largest,
    so a share may have smaller ones, never larger ones."""
    held = before.replica_requirements.amounts() if before.replica_requirements else {}
    asked = after.replica_requirements.amounts() if after.replica_requirements else {}
    return next((name for name, amount in asked.items() if held.get(name, _NONE) < amount), None)


def against_wholeness(ask: Asked, samples: Sequence[Sample]) -> str | None:
    """How a revision changes objects that go whole, None if it leaves them alone."""
    for name, obj in samples:
        for number in _ANY_NUMBER:
            try:
                reply = ask(_REVISION, obj, number)
            except InterpError as error:
                return f"it failed on {name}: {error}"
            if reply.patch:
                return f"asked for {number} it changed {reply.patch[0]['path']} of {name}"
    return None if samples else _NO_SAMPLE


class CaseProof:
    """Runs the scripts on the objects of their case tables, and on those of `more` that are of the kind."""

    def __init__(self, runner: Runner, catalog: Catalog, more: Sequence[Mapping[str, Any]] = ()) -> None:
        self._runner = runner
        self._catalog = without_clock(catalog)
        self._more = more
        self._tables = bundled_tables()

    def divides(self, kind: GroupVersionKind, replicas: Offer, revision: Offer) -> str | None:
        return against_division(self._ask, self._samples(kind, replicas, revision))

    def changes_nothing(self, kind: GroupVersionKind, revision: Offer) -> str | None:
        return against_wholeness(self._ask, self._samples(kind, revision))

    def _ask(self, operation: Operation, obj: dict[str, Any], replicas: int = 0) -> Reply:
        return interpret(self._runner, self._catalog, request_for(obj, operation, replicas=replicas)).reply

    def _samples(self, kind: GroupVersionKind, *offers: Offer) -> list[Sample]:
        """The objects to prove on; those of a further version that a script serves are those of its own."""
        found: dict[bytes, Sample] = {}
        for offer in offers:
            home = offer.candidate.kind or kind
            bundled = offer.source.origin is Origin.BUNDLED
            folder = self._tables.get(home) if bundled else offer.candidate.folder
            for name, obj in _from_cases(folder, home):
                as_kind = {**obj, "apiVersion": kind.api_version}
                found.setdefault(msgspec.json.encode(as_kind), (name, as_kind))
        return [*found.values(), *_of_kind(kind, self._more)]


def without_clock(catalog: Catalog) -> Catalog:
    """The same scripts, in which asking for the present time is an error. Only Lua has a clock; chance and globals
    begin anew with every call, so they prove themselves."""
    offers = {key: tuple(map(_timeless, group)) for key, group in catalog.offers.items()}
    return Catalog(offers, catalog.broken, catalog.strict)


def _timeless(offer: Offer) -> Offer:
    script = offer.script
    if script.language != "lua" or not _CLOCK.search(script.text):
        return offer
    timeless = structs.replace(
        script, text=_NO_CLOCK + script.text
    )  # on its first line, so that lines keep their number
    return structs.replace(offer, candidate=structs.replace(offer.candidate, script=timeless))


ASKS_THE_CLOCK: Final = "it asks what time it is, so what is proven now need not hold later"
_CLOCK: Final = re.compile(r"\bos\b")
_NO_CLOCK: Final = (
    "do local time, date = os.time, os.date; "
    "os = { time = function(t) if t == nil then error('" + ASKS_THE_CLOCK + "', 2) end return time(t) end, "
    "date = function(form, t) if t == nil then error('" + ASKS_THE_CLOCK + "', 2) end return date(form, t) end } end "
)
_NO_SAMPLE: Final = "no case shows it an object to prove that on; add one, or give --sample"


def shares(total: int) -> list[int]:
    """The numbers from 1 to `total` that a proof tries: all of a few, of many the edges and a spread between.

    >>> shares(3), len(shares(100_000))
    ([1, 2, 3], 48)
    """
    if total <= _EVERY_SHARE:
        return list(range(1, total + 1))
    third = _EVERY_SHARE // 3
    between = [third + (total - 2 * third) * step // (third + 1) for step in range(1, third + 1)]
    return [*range(1, third + 1), *between, *range(total - third + 1, total + 1)]


def bundled_tables() -> dict[GroupVersionKind, Path]:
    """Where the case table of each bundled kind is; a Starlark twin shares that of its Lua original."""
    return {
        found.kind: found.folder
        for found in scan_bundled(LUA)
        if isinstance(found, Candidate) and found.kind and found.folder
    }


def _from_cases(folder: Path | None, kind: GroupVersionKind) -> Iterator[Sample]:
    for file in case_files(folder) if folder else ():
        for case in read_cases(file):
            # A case that wants an error shows an object nobody could deploy.
            if case.want_error is None and GroupVersionKind.of(case.object) == kind:
                yield f'case "{case.name}"', case.object


def _of_kind(kind: GroupVersionKind, objects: Sequence[Mapping[str, Any]]) -> Iterator[Sample]:
    for obj in objects:
        if GroupVersionKind.of(dict(obj)) == kind:
            yield f"sample {(obj.get('metadata') or {}).get('name', '')}".strip(), dict(obj)
