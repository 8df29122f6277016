"""What is refused before it piles up: bytes of bodies, and requests of one kind."""

from __future__ import annotations

import pytest

from interpreters.core.errors import BusyError
from interpreters.core.kinds import GroupVersionKind
from webhook.server.load import SMALL, Load, Room
from webhook.server.problems import HttpProblem

ACT, SCENE = (GroupVersionKind("stage.example.org", "v1", kind) for kind in ("Act", "Scene"))


def test_bodies_are_held_up_to_a_limit_and_one_of_any_size_is_let_in() -> None:
    load = Load(most_bytes=100, most_of_a_kind=9)
    large, other = Room(load), Room(load)
    for _ in range(50):
        large.hold(10)
    with pytest.raises(HttpProblem, match="try again") as refused:
        other.hold(1)
    assert refused.value.headers == {"Retry-After": "1"}
    large.leave()
    rooms = [Room(load) for _ in range(10)]
    for room in rooms:
        room.hold(10)
    with pytest.raises(HttpProblem):
        other.hold(1)
    assert load.bytes == 100
    for room in [*rooms, other]:
        room.leave()
    assert load.bytes == 0


def test_a_body_that_is_unpacked_takes_the_room_of_both_and_a_smaller_one_gives_some_back() -> None:
    load = Load(most_bytes=100, most_of_a_kind=9)
    neighbour, room = Room(load), Room(load)
    neighbour.hold(50)
    room.hold(10)
    with pytest.raises(HttpProblem):
        room.hold(41)
    room.hold(-4)
    assert load.bytes == 56


def test_large_bodies_leave_a_quarter_of_the_room_to_small_ones() -> None:
    load = Load(most_bytes=8 * SMALL, most_of_a_kind=9)
    for _ in range(3):
        Room(load).hold(2 * SMALL)
    with pytest.raises(HttpProblem):
        Room(load).hold(SMALL + 1)
    for _ in range(2):
        Room(load).hold(SMALL)
    with pytest.raises(HttpProblem):
        Room(load).hold(1)


def test_one_kind_cannot_take_the_place_of_the_others() -> None:
    load = Load(most_bytes=100, most_of_a_kind=2)
    load.begin(ACT)
    load.begin(ACT)
    with pytest.raises(BusyError, match=r"2 requests for stage.example.org/v1 Act"):
        load.begin(ACT)
    load.begin(SCENE)
    load.end(ACT)
    load.begin(ACT)
