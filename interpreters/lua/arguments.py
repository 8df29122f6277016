"""Checks the JSON of an argument and finds the fields that scripts seldom read and that may stay text.

An object's `metadata` is as long as the rest, mostly by `managedFields` and the last-applied annotation. One pass of
msgspec's parser, which skips what no field asks for, validates the whole text and cuts it out; the Lua side decodes it
when a script asks, and even then leaves those two of its fields for later.
"""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Raw, Struct

_NONE: Final = Raw(b"")


class _Object(Struct, frozen=True):
    metadata: Raw = _NONE


class _Annotations(Struct, frozen=True):
    applied: Raw = msgspec.field(default=_NONE, name="kubectl.kubernetes.io/last-applied-configuration")


class _Metadata(Struct, frozen=True):
    managed: Raw = msgspec.field(default=_NONE, name="managedFields")
    annotations: _Annotations | None = None


_decode_object: Final = msgspec.json.Decoder(_Object).decode
_decode_metadata: Final = msgspec.json.Decoder(_Metadata).decode
_validate: Final = msgspec.json.Decoder(Raw).decode

Argument = tuple[bytes, bytes | None]


def read_argument(text: bytes) -> Argument:
    """The text, and its metadata if it is an object with any. Raises `msgspec.DecodeError` or `RecursionError`."""
    if not text.startswith(b"{"):
        _validate(text)
        return text, None
    metadata = bytes(_decode_object(text).metadata)
    return text, metadata if metadata.startswith(b"{") else None


def waiting_fields(metadata: bytes) -> tuple[bytes | None, bytes | None]:
    """The managed fields and the last-applied annotation of metadata that has been read as part of an argument."""
    try:
        found = _decode_metadata(metadata)
    except (msgspec.DecodeError, RecursionError):  # JSON, but not the metadata of an object
        return None, None
    annotations = found.annotations
    return bytes(found.managed) or None, bytes(annotations.applied) or None if annotations is not None else None
