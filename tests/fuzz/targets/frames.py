"""What a worker sends, in any chunks: refused, or a reply that is the same when sent again."""

from interpreters.sandbox.messages import HEADER, FrameBuffer, ProtocolError, decode_reply, encode

LIMIT = 4096


def check(data: bytes) -> None:
    if not data:
        return
    step, stream = data[0] + 1, data[1:]
    buffer = FrameBuffer(LIMIT)
    try:
        for start in range(0, len(stream), step):
            frame = buffer.take(memoryview(stream)[start : start + step])
            while frame is not None:
                assert len(frame) <= LIMIT
                reply = decode_reply(frame)
                assert decode_reply(encode(reply)[HEADER:]) == reply
                frame = buffer.take()
    except ProtocolError:
        return
    assert len(buffer.pending) <= LIMIT + HEADER
