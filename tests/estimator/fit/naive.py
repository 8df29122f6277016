"""The rule for whole sets, written down plainly: what the fast packing must agree with, set by set."""

from __future__ import annotations

from collections.abc import Sequence

from estimator.fit.packing import Demand, Packed

Row = tuple[int, ...]


def columns(rows: Sequence[Sequence[int]], demands: Sequence[Demand]) -> list[list[int]]:
    return [[row[resource] for row in rows] for resource in range(len(demands[0].need))]


def pack_naively(rows: list[Row], demands: Sequence[Demand], limit: int) -> Packed:
    sets, left = 0, [list(row) for row in rows]
    while sets < limit:
        for number, demand in enumerate(demands):
            for placed in range(demand.replicas):
                for node, row in enumerate(left):
                    if demand.admits[node] and all(free >= need for free, need in zip(row, demand.need, strict=True)):
                        left[node] = [free - need for free, need in zip(row, demand.need, strict=True)]
                        break
                else:
                    return Packed(sets, columns(left, demands), number, demand.replicas - placed)
        sets += 1
    return Packed(sets, columns(left, demands), None, 0)
