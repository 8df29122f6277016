"""Packed request bodies: never more than the limit, and what one member holds is what gzip itself reads."""

import gzip

from webhook.server.bodies import unpack
from webhook.server.problems import HttpProblem

LIMIT = 4096


def check(data: bytes) -> None:
    try:
        body = unpack(data, LIMIT)
    except HttpProblem as problem:
        assert 400 <= problem.status < 500
    else:
        assert len(body) <= LIMIT
        assert body == gzip.decompress(data)
