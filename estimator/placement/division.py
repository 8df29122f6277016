"""Sharing out replicas by weight, in whole numbers that add up.

`largest-remainder` gives each its exact share rounded down, and what is left one by one to the largest remainders:
every share is within one replica of the exact one, and no share exceeds its weight while the total does not exceed all
weights together. `webster` hands out replicas one by one to the highest weight / (2 x replicas + 1), as Karmada 1.18
does; where weights are very unequal it may leave the exact share by more than one.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from fractions import Fraction
from typing import Literal

Rounding = Literal["largest-remainder", "webster"]


def divide(
    total: int, weights: Mapping[str, int], rounding: Rounding = "largest-remainder", uid: str = ""
) -> dict[str, int]:
    """How many of `total` each name gets, in the order given; a weight that is not positive gets nothing."""
    positive = {name: weight for name, weight in weights.items() if weight > 0}
    if not positive or total <= 0:
        return dict.fromkeys(weights, 0)
    shares = _largest_remainder(total, positive) if rounding == "largest-remainder" else _webster(total, positive, uid)
    return {name: shares.get(name, 0) for name in weights}


def _largest_remainder(total: int, weights: Mapping[str, int]) -> dict[str, int]:
    """Ties between remainders go to the larger weight, then to the name that sorts first."""
    whole = sum(weights.values())
    shares = {name: total * weight // whole for name, weight in weights.items()}
    left = total - sum(shares.values())
    order = sorted(weights, key=lambda name: (-(total * weights[name] % whole), -weights[name], name))
    for name in order[:left]:
        shares[name] += 1
    return shares


def _webster(total: int, weights: Mapping[str, int], uid: str) -> dict[str, int]:
    """Ties go to whom has fewer, then by name: backwards for every other workload, so that not all favour the same."""
    names = sorted(weights, reverse=_fnv1a(uid) & 1 == 1 if uid else False)
    queue = [(-Fraction(weights[name]), 0, rank) for rank, name in enumerate(names)]
    heapq.heapify(queue)
    shares = dict.fromkeys(names, 0)
    for _ in range(total):
        _, seats, rank = queue[0]
        name = names[rank]
        shares[name] = seats + 1
        heapq.heapreplace(queue, (-Fraction(weights[name], 2 * seats + 3), seats + 1, rank))
    return shares


def _fnv1a(text: str) -> int:
    digest = 2166136261
    for byte in text.encode():
        digest = (digest ^ byte) * 16777619 & 0xFFFFFFFF
    return digest
