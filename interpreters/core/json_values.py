"""Reading JSON that strangers wrote: every reason why it cannot be read is one error, and what it may hold is bounded.

A value takes two bytes of text and sixty of memory, so the number of values is bounded before any of them is made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar, overload

import msgspec

from interpreters.core.decoder_errors import UNREADABLE, misfit
from interpreters.core.errors import InterpError

T = TypeVar("T")

MOST_VALUES: Final = 1_000_000
"""Values in one text. An object of 8 MiB has a third of that; some hundred megabytes of memory hold so many."""


SHORT: Final = 2 * MOST_VALUES
"""Bytes of a text that cannot hold more than `MOST_VALUES`."""


def too_many_values(text: bytes, most: int = MOST_VALUES) -> bool:
    """Whether a text may hold more values than this. Commas inside of strings count too: telling them apart would take
    longer than the decoding that is to be avoided."""
    return len(text) > 2 * most and text.count(b",") + text.count(b"[") + text.count(b"{") > most


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
        raise complain(misfit(error)) from None
