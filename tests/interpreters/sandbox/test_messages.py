"""Frames survive any chunking; whatever a worker sends, the parent either understands it or refuses it."""

from __future__ import annotations

from itertools import pairwise
from math import nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interpreters.core.engine import LONGEST_CALL, MOST_VALUES, Outcome
from interpreters.core.errors import Frame, LimitError, ReplyError, ScriptError, ScriptSyntaxError
from interpreters.sandbox.messages import (
    HEADER,
    Answer,
    FrameBuffer,
    ProtocolError,
    decode_reply,
    encode,
    error_of,
    failure_of,
)

WHERE = {"script": "s.lua", "line": 3, "function": "F", "frames": (Frame("G", 2), Frame("F", 3)), "printed": "hi"}
ERRORS = (
    ScriptError("bad", **WHERE),
    ScriptSyntaxError("no end", **WHERE),
    ReplyError("components[0].name", "is missing", **WHERE),
    ReplyError("", "is not a table", **WHERE),
    LimitError("depth", "too deep", **WHERE),
)


@pytest.mark.parametrize("error", ERRORS, ids=repr)
def test_an_error_arrives_as_it_was_raised(error: ScriptError) -> None:
    failure = decode_reply(encode(failure_of(error))[HEADER:])
    arrived = error_of(failure, "other", "Other")
    assert type(arrived) is type(error)
    assert vars(arrived) == vars(error)
    assert str(arrived) == str(error)


def test_an_error_without_a_place_gets_the_place_of_the_call() -> None:
    assert str(error_of(failure_of(ScriptError("bad")), "s.lua", "F")) == "s.lua: in F: bad"


@given(values=st.lists(st.binary(max_size=300), max_size=4), cuts=st.lists(st.integers(0, 1500), max_size=8))
def test_a_frame_comes_together_from_any_chunks(values: list[bytes], cuts: list[int]) -> None:
    answer = Answer(Outcome(tuple(values), "printed", 0.5, 7, 9), heavy=False)
    frame = bytes(encode(answer))
    edges = [0, *sorted(min(cut, len(frame)) for cut in cuts), len(frame)]
    buffer = FrameBuffer()
    payloads = [buffer.take(memoryview(frame[start:end])) for start, end in pairwise(edges)]
    (payload,) = [payload for payload in payloads if payload is not None]
    assert decode_reply(payload) == answer
    assert not buffer.pending


def test_two_frames_in_one_chunk_are_taken_one_after_the_other() -> None:
    one, two = Answer(Outcome((b"1",)), heavy=False), Answer(Outcome((b"2",)), heavy=True)
    buffer = FrameBuffer()
    first = buffer.take(memoryview(bytes(encode(one) + encode(two))))
    second = buffer.take()
    assert first is not None
    assert second is not None
    assert [decode_reply(first), decode_reply(second)] == [one, two]


@given(st.integers(1001, 2**32 - 1), st.integers(0, 10))
def test_a_frame_above_the_limit_is_refused_at_its_header(size: int, more: int) -> None:
    with pytest.raises(ProtocolError):
        FrameBuffer(limit=1000).take(memoryview(size.to_bytes(HEADER, "big") + bytes(more)))


@given(st.binary(max_size=200))
def test_any_bytes_are_a_reply_or_refused(noise: bytes) -> None:
    try:
        decode_reply(noise)
    except ProtocolError as error:
        assert str(error) == "a frame that is not a reply"


@given(st.data())
def test_a_tampered_reply_is_a_reply_or_refused(data: st.DataObject) -> None:
    frame = bytearray(encode(failure_of(ERRORS[0]))[HEADER:])
    for _ in range(data.draw(st.integers(1, 4))):
        frame[data.draw(st.integers(0, len(frame) - 1))] = data.draw(st.integers(0, 255))
    try:
        decode_reply(bytes(frame))
    except ProtocolError as error:
        assert str(error) == "a frame that is not a reply"


BEYOND_BOUNDS = {
    "too many values": Outcome((b"1",) * (MOST_VALUES + 1)),
    "a negative time": Outcome((), seconds=-1.0),
    "a time that is no measurement": Outcome((), seconds=2 * LONGEST_CALL),
    "no number for a time": Outcome((), seconds=nan),
    "a negative amount of memory": Outcome((), memory=-1),
    "a cost beyond exact numbers": Outcome((), cost=2**53),
}


@pytest.mark.parametrize("outcome", BEYOND_BOUNDS.values(), ids=BEYOND_BOUNDS)
def test_an_outcome_beyond_its_bounds_is_refused(outcome: Outcome) -> None:
    with pytest.raises(ProtocolError):
        decode_reply(encode(Answer(outcome, heavy=False))[HEADER:])
