"""What is refused before it piles up: bytes of bodies, and requests of one kind."""

from __future__ import annotations

import pytest

from interpreters.core.errors import BusyError
from interpreters.core.kinds import GroupVersionKind
from webhook.bodies import HttpProblem
from webhook.load import Load

ACT, SCENE = (GroupVersionKind("stage.example.org", "v1", kind) for kind in ("Act", "Scene"))


def test_bodies_are_held_up_to_a_limit_and_one_of_any_size_is_let_in() -> None:
    load = Load(most_bytes=100, most_of_a_kind=9)
    load.admit(500)
    with pytest.raises(HttpProblem, match="try again") as refused:
        load.admit(1)
    assert refused.value.headers == {"Retry-After": "1"}
    load.release(500)
    for _ in range(10):
        load.admit(10)
    with pytest.raises(HttpProblem):
        load.admit(1)
    assert (load.requests, load.bytes) == (10, 100)


def test_one_kind_cannot_take_the_place_of_the_others() -> None:
    load = Load(most_bytes=100, most_of_a_kind=2)
    load.begin(ACT)
    load.begin(ACT)
    with pytest.raises(BusyError, match=r"2 requests for stage.example.org/v1 Act"):
        load.begin(ACT)
    load.begin(SCENE)
    load.end(ACT)
    load.begin(ACT)
