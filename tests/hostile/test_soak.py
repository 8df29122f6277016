"""The short version of the hostile load; `make soak` runs the long one."""

from __future__ import annotations

from tests.hostile.soak import run


def test_good_requests_are_answered_right_and_in_time_while_attacks_go_on() -> None:
    report = run(seconds=8)
    assert report.wrong == []
    assert report.good > 50
    assert sum(report.attacks.values()) > 3
