"""Where a quota is heading: growth by the day and when it is full, or why that cannot be told.

The slope is the median of the slopes between all pairs of points (Theil and Sen), so that a few odd days do not move
it. A trend counts as one when at least three in four of the pairs that differ point the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import median
from typing import Final

from estimator.accounting.history.series import DAY, Point

_FEWEST: Final = 6
_SHORTEST: Final = DAY
_MOST: Final = 120  # points; their pairs grow with the square
_CLEAR: Final = Fraction(3, 4)
_FARTHEST: Final = 730 * DAY
_SOON: Final = 30 * DAY


@dataclass(frozen=True, slots=True)
class Trend:
    """`per_day` is in nano-units; None when there is no trend. `full_at` is in seconds since 1970."""

    per_day: int | None
    full_at: int | None
    words: str


def trend_of(points: Sequence[Point]) -> Trend:
    """What the points say of the future. Points are in order of time."""
    if not points:
        return Trend(None, None, "no history")
    last = points[-1]
    if last.used >= last.limit:
        return Trend(None, last.at, "full now" if last.used == last.limit else "over its limit now")
    span = last.at - points[0].at
    if len(points) < _FEWEST or span < _SHORTEST:
        return Trend(None, None, "cannot tell: too little history")
    slopes = _slopes(_thinned(points))
    moving = [slope for slope in slopes if slope]
    if not moving:
        return Trend(0, None, "does not change")
    rising = Fraction(sum(slope > 0 for slope in moving), len(moving))
    slope = median(slopes)
    if 1 - _CLEAR < rising < _CLEAR or not slope:
        return Trend(None, None, "cannot tell: no steady trend")
    per_day = round(slope * DAY)
    if slope < 0:
        return Trend(per_day, None, "shrinks")
    seconds = Fraction(last.limit - last.used) / slope
    if seconds > _FARTHEST:
        return Trend(per_day, None, "not full within two years at this pace")
    return Trend(per_day, last.at + int(seconds), "")


def is_soon(points: Sequence[Point]) -> bool:
    """Whether it is full, or will be within thirty days of its last point."""
    trend = trend_of(points)
    return trend.full_at is not None and trend.full_at - points[-1].at <= _SOON


def _thinned(points: Sequence[Point]) -> Sequence[Point]:
    """At most so many points, evenly chosen, the first and the last among them."""
    if len(points) <= _MOST:
        return points
    return [points[place * (len(points) - 1) // (_MOST - 1)] for place in range(_MOST)]


def _slopes(points: Sequence[Point]) -> list[Fraction]:
    """Nano-units per second between each two points."""
    return [
        Fraction(later.used - earlier.used, later.at - earlier.at)
        for place, later in enumerate(points)
        for earlier in points[:place]
    ]
