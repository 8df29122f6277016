"""Checks the JSON of an argument and finds the two fields that scripts hardly ever read and that may stay text.

`metadata.managedFields` and the last-applied annotation are half of a real object. One pass of msgspec's parser, which
skips what no field asks for, validates the whole text and cuts them out; the Lua side decodes them when a script asks.
"""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Raw, Struct

_NONE: Final = Raw(b"")


class _Annotations(Struct, frozen=True):
    applied: Raw = msgspec.field(default=_NONE, name="kubectl.kubernetes.io/last-applied-configuration")


class _Metadata(Struct, frozen=True):
    managed: Raw = msgspec.field(default=_NONE, name="managedFields")
    annotations: _Annotations | None = None


class _Object(Struct, frozen=True):
    metadata: _Metadata | None = None


_decode_object: Final = msgspec.json.Decoder(_Object).decode
_validate: Final = msgspec.json.Decoder(Raw).decode

Argument = tuple[bytes, bytes | None, bytes | None]


def read_argument(text: bytes) -> Argument:
    """The text, and those of its two fields that may wait. Raises `msgspec.DecodeError` or `RecursionError`."""
    if not text.startswith(b"{"):
        _validate(text)
        return text, None, None
    try:
        metadata = _decode_object(text).metadata
    except msgspec.ValidationError:  # JSON, but its metadata is not an object's
        return text, None, None
    if metadata is None:
        return text, None, None
    annotations = metadata.annotations
    return (
        text,
        bytes(metadata.managed) or None,
        bytes(annotations.applied) or None if annotations is not None else None,
    )
