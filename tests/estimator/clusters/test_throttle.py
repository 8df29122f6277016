"""Requests to an API server keep to a rate."""

from __future__ import annotations

from estimator.clusters.apiserver import Throttle

STEPS = [  # at, seconds to wait
    (0.0, 0.0),
    (0.0, 0.0),
    (0.0, 0.0),
    (0.0, 0.1),  # the burst of three is spent
    (0.0, 0.2),
    (0.2, 0.1),
    (10.0, 0.0),  # what was saved up may be spent at once, but no more than a burst
    (10.0, 0.0),
    (10.0, 0.0),
    (10.0, 0.1),
]


def test_a_burst_passes_and_the_rest_keeps_to_the_rate() -> None:
    now = 0.0
    throttle = Throttle(rate=10, burst=3, clock=lambda: now)
    for now, expected in STEPS:  # noqa: B007 - the clock reads it
        assert round(throttle.take(), 6) == expected


def test_no_rate_is_no_limit() -> None:
    for rate in (0, -1):
        assert {Throttle(rate=rate, burst=0).take() for _ in range(3)} == {0.0}
