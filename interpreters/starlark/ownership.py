"""Ownership records of objects, compiled once.

Half of a real object is `metadata.managedFields[].fieldsV1`: who wrote which field, without values or times, so all
objects that the same tools write have the same few records. Functions that only read get them as globals that are
compiled already; these are frozen, so a script that changes one is called again with a copy of its own.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

import msgspec
from msgspec import Raw, Struct
from starlark_go import Starlark, StarlarkError

KEPT_RECORDS: Final = 16
REMEMBERED_ONCE: Final = 256
SHORTEST, LONGEST = 64, 16 * 1024
FROZEN: Final = "frozen"
"""What Starlark says when a script changes a record, among other words."""


class _Entry(Struct, rename={"fields": "fieldsV1"}):
    fields: Raw = Raw(b"")


class _Metadata(Struct, rename="camel"):
    managed_fields: list[_Entry] = []


class _Object(Struct):
    metadata: _Metadata | None = None


_decode: Final = msgspec.json.Decoder(_Object).decode


class OwnershipRecords:
    """The records that one loaded script has at hand, by their text. The one not seen for longest makes room."""

    def __init__(self, interpreter: Starlark) -> None:
        self._interpreter = interpreter
        self._names: OrderedDict[str, str] = OrderedDict()
        self._seen_once: OrderedDict[int, None] = OrderedDict()

    def shortened(self, argument: bytes, literal: str) -> str:
        """The literal of an argument with names in place of records that came before."""
        try:
            found = _decode(argument)
        except msgspec.DecodeError:
            return literal
        for entry in found.metadata.managed_fields if found.metadata else ():
            if SHORTEST <= len(entry.fields) <= LONGEST:
                record = str(entry.fields, "utf-8", "replace")
                name = self._name(record) if record in literal else None
                if name is not None:
                    literal = literal.replace(record, name)
        return literal

    def _name(self, record: str) -> str | None:
        name = self._names.get(record)
        if name is not None:
            self._names.move_to_end(record)
            return name
        seen = hash(record)
        if seen not in self._seen_once:  # compiling it for later would cost more than it brings if it never comes again
            self._seen_once[seen] = None
            if len(self._seen_once) > REMEMBERED_ONCE:
                self._seen_once.popitem(last=False)
            return None
        is_full = len(self._names) == KEPT_RECORDS
        name = next(iter(self._names.values())) if is_full else f"__record_{len(self._names)}"
        try:
            self._interpreter.exec(f"{name} = {record}\n")
        except StarlarkError:  # JSON that is no Starlark, such as one with a duplicate key: the call itself will tell
            return None
        if is_full:
            self._names.popitem(last=False)
        self._names[record] = name
        return name
