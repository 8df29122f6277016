"""Reading JSON that strangers wrote: every reason why it cannot be read is one error, and what it may hold is bounded.

A value takes two bytes of text and sixty of memory, so the number of values is bounded before any of them is made.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, TypeVar, overload

import msgspec

from interpreters.core.errors import InterpError

T = TypeVar("T")

MOST_VALUES: Final = 1_000_000
"""Values in one text. An object of 8 MiB has a third of that; some hundred megabytes of memory hold so many."""

UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""Everything that msgspec raises for a text that is not what was expected."""


def too_many_values(text: bytes, most: int = MOST_VALUES) -> bool:
    """Whether a text may hold more values than this. Commas inside of strings count too: telling them apart would take
    longer than the decoding that is to be avoided."""
    return len(text) > 2 * most and text.count(b",") + text.count(b"[") + text.count(b"{") > most


def reason(error: Exception) -> str:
    """One of `UNREADABLE` in words for whoever wrote the text."""
    if isinstance(error, RecursionError):
        return "nested too deep"
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8 at byte {error.start}"
    said = _RANGE.sub("a number too large for any reader of JSON", str(error))
    return said if isinstance(error, msgspec.ValidationError) else f"not JSON: {said}"


_RANGE: Final = re.compile("(?:Integer value|Number) out of range")


_KINDS: Final = {
    b"{": "an object",
    b"[": "a list",
    b'"': "text",
    b"t": "true",
    b"f": "false",
    b"n": "null",
    b"": "nothing",
}


def kind_of(text: Text) -> str:
    """What sort of value a JSON text begins with; its content is nobody's business."""
    return _KINDS.get(bytes(text)[:1], "a number")


Complain = Callable[[str], InterpError]
Text = bytes | msgspec.Raw


@overload
def decoded(text: Text, complain: Complain, *, most: int = MOST_VALUES) -> Any: ...


@overload
def decoded(text: Text, complain: Complain, into: type[T], *, most: int = MOST_VALUES) -> T: ...


def decoded(text: Text, complain: Complain, into: Any = Any, *, most: int = MOST_VALUES) -> Any:
    """The value of a JSON text. `complain` makes the error to raise of the reason why there is none."""
    if too_many_values(bytes(text), most):
        raise complain(f"more than {most} values")
    try:
        return msgspec.json.decode(text, type=into)
    except UNREADABLE as error:
        raise complain(reason(error)) from None
