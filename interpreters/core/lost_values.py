"""What a script returned and its reply does not hold: misspelt fields and cut-off fractions, in words for the author.

The contract drops them, so `build_reply` does without a word. Only what authors run asks here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from interpreters.core.operations import Answer
from interpreters.core.reply_schemas import REPLY_SCHEMAS, described

_FIELDS: Final[Mapping[Answer, tuple[str, ...]]] = {
    Answer.REPLICAS: ("replicas", "replicaRequirements"),
    Answer.COMPONENTS: ("components",),
    Answer.DEPENDENCIES: ("dependencies",),
}
_NEAR: Final = 0.75


def lost_values(answer: Answer, values: tuple[bytes, ...]) -> list[str]:
    """A sentence for each part of these values, valid as a reply, that is not part of the reply.

    >>> lost_values(Answer.REPLICAS, (b"1.5", b'{"resourceRequests": {}}'))[0]
    'replicas: Karmada cuts 1.5 down to 1; return a whole number'
    """
    found: list[str] = []
    for field, raw in zip(_FIELDS.get(answer, ()), values, strict=False):
        value = msgspec.json.decode(raw)
        if isinstance(value, float) and not value.is_integer():
            found.append(f"{field}: Karmada cuts {value} down to {int(value)}; return a whole number")
        found += _unknown_fields(value, REPLY_SCHEMAS[answer]["properties"][field], field)
    return found


def _unknown_fields(value: Any, schema: Mapping[str, Any], path: str) -> Iterator[str]:
    if isinstance(value, list):
        for i, item in enumerate(value):
            yield from _unknown_fields(item, schema.get("items", {}), f"{path}[{i}]")
    properties: Mapping[str, Any] = schema.get("properties", {})
    if not isinstance(value, dict) or not properties:
        return
    for name, item in value.items():
        if name in properties:
            yield from _unknown_fields(item, properties[name], f"{path}.{name}")
        elif item is not None:
            where = f"{path}.{name:.60}" if name.isprintable() else f"{path}[{name!r:.60}]"
            got = described(item)
            yield f"{where}: there is no such field, so what it holds ({got}) is lost; {_hint(name, properties)}"


def _hint(name: str, properties: Mapping[str, Any]) -> str:
    """The field that was probably meant: one of the same name further down, or one spelled alike."""
    from difflib import get_close_matches

    spellings = {_plain(known): known for known in properties}
    near = [spellings[spelling] for spelling in get_close_matches(_plain(name), spellings, n=1, cutoff=_NEAR)]
    meant = next(iter([*_below(name, properties), *near]), None)
    return f"did you mean {meant}?" if meant else f"known are {', '.join(properties)}"


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def _below(name: str, properties: Mapping[str, Any]) -> Iterator[str]:
    for known, schema in properties.items():
        inner = schema.get("properties", {})
        if name in inner:
            yield f"{known}.{name}"
        yield from (f"{known}.{deeper}" for deeper in _below(name, inner))
