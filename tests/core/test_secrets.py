"""Error texts about objects that are or hold a Secret: what they may still say, and how long finding that out takes."""

from __future__ import annotations

import json

import pytest

from interpreters.core.secrets import WITHHELD, without_values


@pytest.mark.parametrize(
    ("values", "message", "told"),
    [
        (["hunter22"], "expected a number, got hunter22", "expected a number, got (not shown)"),
        (["aHVudGVyMjI="], "expected a number, got hunter22", "expected a number, got (not shown)"),
        (["hunter22"], "spec.x: got text 'hunter2'", "spec.x: got text (not shown)"),
        (["abc"], "abc is too short to be looked for", "abc is too short to be looked for"),
        ([f"{number:06}" for number in range(14_000)], "x" * 4000, WITHHELD),
        (["x" * 200_000], "anything", WITHHELD),
    ],
    ids=["plain", "base64", "quoted", "short", "more values than can be looked for", "a large object"],
)
def test_a_message_without_values(values: list[str], message: str, told: str) -> None:
    assert without_values(message, json.dumps({"kind": "Secret", "data": values}).encode()) == told
