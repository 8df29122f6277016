"""Objects that are or hold a Secret, and error texts about them: what such a text quotes is left out.

Messages quote values so that people find the mistake: "expected a number, got text 'aHVu'". They end up in logs, events
and terminals, where a Secret's values must not be. A script's own messages are treated alike.
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from interpreters.core.decoder_errors import UNREADABLE

WITHHELD: Final = "not shown: the object is or holds a Secret"
_HIDDEN: Final = "(not shown)"
_NAMES: Final = frozenset({"apiVersion", "kind", "name", "namespace"})  # these are no secrets, and messages need them
_SHORTEST: Final = 4  # shorter texts would be found in any sentence
_LARGEST: Final = 128 * 1024  # an object whose values are looked for one by one; of a larger one no word is said
_MOST_WORK: Final = 4_000_000  # characters of a message times values looked for in it: some milliseconds

# A letter of a JSON text may be spelled with its number.
_SECRET: Final = re.compile(b'"' + b"".join(b"(?:%c|\\\\u00%02x)" % (letter, letter) for letter in b"Secret") + b'"')
_QUOTED: Final = re.compile(r"""(?<![\w])(?:'(?:[^'\\]|\\.)*(?:'|$)|"(?:[^"\\]|\\.)*(?:"|$))""", re.DOTALL)


def holds_secret(*texts: bytes) -> bool:
    """Whether any of these JSON texts says `Secret` anywhere, as the kind of an object would."""
    return any(_SECRET.search(text) for text in texts)


def without_values(message: str, *texts: bytes) -> str:
    """The message without what it quotes, and without any value of these JSON texts.

    >>> without_values("spec.x: expected a number, got text 'aHVu'", b'{"kind": "Secret", "data": {"x": "aHVu"}}')
    'spec.x: expected a number, got text (not shown)'
    """
    if sum(map(len, texts)) > _LARGEST:
        return WITHHELD
    message = _QUOTED.sub(_HIDDEN, message)
    values = {value for text in texts for value in _values(_decoded(text))}
    if len(values) * len(message) > _MOST_WORK:
        return WITHHELD
    found = {value for value in values if value in message}
    for value in sorted(found, key=len, reverse=True):
        message = message.replace(value, _HIDDEN)
    return message


def _decoded(text: bytes) -> Any:
    try:
        return msgspec.json.decode(text)
    except UNREADABLE:
        return None


def _values(value: Any, key: str = "") -> Iterator[str]:
    """Every text below, as it stands and unpacked from base64."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _values(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from _values(item, key)
    elif isinstance(value, str) and key not in _NAMES and len(value) >= _SHORTEST:
        yield value
        try:
            plain = b64decode(value, validate=True).decode()
        except (binascii.Error, ValueError):
            return
        if len(plain) >= _SHORTEST:
            yield plain
