"""Patches: applied to the original they give the changed object, whatever the room they are given."""

import copy

from interpreters.core.errors import ReplyError
from interpreters.core.patch import apply, diff, same
from tests.fuzz.targets.values import Values


def check(data: bytes) -> None:
    if not data:
        return
    values = Values(data[1:])
    original, changed = {"o": values.take()}, {"o": values.take()}
    before = copy.deepcopy(original)
    try:
        patch = diff(original, changed, most=16 << (data[0] % 12))
    except ReplyError:
        return
    assert same(apply(original, patch), changed), (original, changed, patch)
    assert original == before
    assert not patch or not same(original, changed), patch
