"""What the parent and a worker say to each other: msgpack messages in length-prefixed frames.

The parent treats everything a worker sends as hostile: a frame's length is checked before anything is read or
allocated, messages are decoded into these types and no others, and every field has its bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isnan
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from interpreters.core.engine import Limits, Outcome, Script
from interpreters.core.errors import (
    LIMITS,
    Frame,
    InternalError,
    InterpError,
    LimitError,
    ReplyError,
    ScriptError,
    ScriptSyntaxError,
)

HEADER = 4
LARGEST_FRAME = 2 ** (8 * HEADER) - 1
MESSAGE_ROOM = 128 * 1024
"""What a reply may need beyond its values and its printed text: field names, an error's words, its frames."""

LONGEST_MESSAGE = 8 * 1024
LONGEST_NAME = 1000
"""Characters of a path, a script's or a function's name in a reply."""

MOST_FRAMES = 50
MOST_NAMES = 5000

_Name = Annotated[str, Meta(max_length=LONGEST_NAME)]
_Message = Annotated[str, Meta(max_length=LONGEST_MESSAGE)]
_Line = Annotated[int, Meta(ge=-(2**31), lt=2**31)]


class Load(Struct, frozen=True, tag="load", array_like=True):
    """First frame to a worker: import these engines, then seal yourself."""

    engines: dict[str, str]
    limits: Limits
    recycle_resident: int


class Call(Struct, frozen=True, tag="call", array_like=True):
    """Run `function`, or list the functions when it is empty. A script's text travels only with its first call."""

    slot: int
    script: Script | None
    function: str
    arguments: list[bytes]
    reads_only: bool
    limits: Limits | None


class Ready(Struct, frozen=True, tag="ready", array_like=True):
    """The worker is sealed. `missing` says why an engine could not be loaded, by language."""

    missing: Annotated[dict[_Name, _Message], Meta(max_length=32)]
    hardening: Annotated[dict[_Name, _Message], Meta(max_length=32)]


class Answer(Struct, frozen=True, tag="answer", array_like=True):
    """`heavy` asks to be replaced at once: the worker holds so much memory that the next call might not find enough.
    That costs its script a worker of its budget."""

    outcome: Outcome
    heavy: bool


class Names(Struct, frozen=True, tag="names", array_like=True):
    """The functions a script defines."""

    functions: Annotated[frozenset[_Name], Meta(max_length=MOST_NAMES)]
    heavy: bool


class Failure(Struct, frozen=True, tag="failure", array_like=True):
    """An error of the tree in core/errors.py, field by field. `detail` is a reply's path or the limit's name."""

    kind: Literal["error", "syntax", "reply", "limit", "internal"]
    message: _Message
    script: _Name
    line: _Line | None
    function: _Name | None
    frames: Annotated[list[tuple[_Name, _Line]], Meta(max_length=MOST_FRAMES)]
    printed: str
    detail: _Name
    heavy: bool


Reply = Answer | Names | Failure | Ready

_encoder = msgspec.msgpack.Encoder()
_replies: msgspec.msgpack.Decoder[Reply] = msgspec.msgpack.Decoder(Reply)

decode_request: Callable[[bytes | bytearray | memoryview], Load | Call] = msgspec.msgpack.Decoder(Load | Call).decode


class ProtocolError(Exception):
    """A worker sent something that is not a reply."""


def encode(message: Load | Call | Reply) -> bytearray:
    frame = bytearray(HEADER)
    _encoder.encode_into(message, frame, HEADER)
    frame[:HEADER] = (len(frame) - HEADER).to_bytes(HEADER, "big")
    return frame


def decode_reply(payload: bytes | bytearray | memoryview) -> Reply:
    try:
        reply = _replies.decode(payload)
    except (msgspec.MsgspecError, UnicodeError, ValueError, OverflowError, RecursionError) as error:
        raise ProtocolError("a frame that is not a reply") from error
    if isinstance(reply, Answer) and isnan(reply.outcome.seconds):  # which is within any bounds
        raise ProtocolError("a frame that is not a reply")
    return reply


def largest_reply(limits: Limits) -> int:
    """How many bytes a reply to a call under these limits may have."""
    return limits.output + limits.printed * 4 + MESSAGE_ROOM


class FrameBuffer:
    """Puts the chunks of one stream together into frames, and refuses a frame above `limit` before it is read."""

    __slots__ = ("limit", "pending")

    def __init__(self, limit: int = MESSAGE_ROOM) -> None:
        self.limit = limit
        self.pending = bytearray()

    def take(self, chunk: memoryview | bytes = b"") -> bytearray | memoryview | bytes | None:
        """The payload of the next frame, once its last byte is there. What is left waits for the next time.

        A chunk that is one frame is not copied: its payload is valid until the chunk is written over.
        """
        if self.pending:
            self.pending += chunk
        received = self.pending or chunk
        size = HEADER + int.from_bytes(received[:HEADER], "big")
        if len(received) >= HEADER and size - HEADER > self.limit:
            raise ProtocolError("a reply larger than the call allows")
        if received is chunk:
            if len(chunk) == size:
                return chunk[HEADER:]
            self.pending += chunk
        if len(self.pending) < size:
            return None
        payload = self.pending[HEADER:size]
        del self.pending[:size]
        return payload


def failure_of(error: ScriptError, *, printed: int = MESSAGE_ROOM, heavy: bool = False) -> Failure:
    """The message for an error; `printed` is how much printed text goes along."""
    detail = ""
    message = error.message
    if isinstance(error, LimitError):
        detail = error.limit
    elif isinstance(error, ReplyError):
        detail, message = error.path, error.problem
    return Failure(
        kind=error.kind,  # type: ignore[arg-type]  # a worker raises no other kinds
        message=shortened(message),
        script=error.script[:LONGEST_NAME],
        line=error.line,
        function=error.function and error.function[:LONGEST_NAME],
        frames=[(frame.function[:200], frame.line) for frame in error.frames[:MOST_FRAMES]],
        printed=error.printed[:printed],
        detail=detail[:LONGEST_NAME],
        heavy=heavy,
    )


def error_of(failure: Failure, script: str, function: str) -> InterpError:
    """The error as it was raised in the worker. Where it names no script or function, the call's own are used."""
    if failure.kind == "internal":
        return InternalError(f"{script}: {f'in {function}: ' if function else ''}{failure.message}")
    where: dict[str, Any] = {
        "script": failure.script or script,
        "line": failure.line,
        "function": failure.function or function or None,
        "frames": tuple(Frame(name, line) for name, line in failure.frames),
        "printed": failure.printed,
    }
    match failure.kind:
        case "syntax":
            return ScriptSyntaxError(failure.message, **where)
        case "reply":
            return ReplyError(failure.detail, failure.message, **where)
        case "limit" if failure.detail in LIMITS:
            return LimitError(failure.detail, failure.message, **where)
        case _:
            return ScriptError(failure.message, **where)


def shortened(text: str) -> str:
    return text if len(text) <= LONGEST_MESSAGE else text[: LONGEST_MESSAGE - 3] + "..."
