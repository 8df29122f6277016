"""Whole sets on nodes, first fit: the exact answer without placing sets one by one.

The rule: place one set after the other; in a set, component by component, each replica on the first node that admits
and fits it; stop at the first set that does not fit whole. Placing only ever takes, so a node that refuses a component
refuses it for good. That gives three shortcuts which change no placement:

- every component keeps a pointer to the first node that still takes it, and pointers only move forward;
- as long as whole sets land where the pointers stand, they all land there: their number is a division;
- what happens until the hindmost pointer moves depends only on the nodes between the pointers and the few fresh ones
  behind them, so it is remembered and replayed where the same nodes come again (runs of equal nodes, as clusters have).

The cost is that of nodes times components; the number of sets does not matter. No bin-packing library will do: they
minimise bins, while here one particular first fit, Karmada's, has to be repeated exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import ge, sub
from typing import Final

Row = tuple[int, ...]
Pairs = tuple[tuple[int, int], ...]

_WIDEST_WINDOW: Final = 8  # nodes between the pointers; beyond it, remembering costs more than it saves
_TRIALS: Final = 300


@dataclass(frozen=True, slots=True)
class Demand:
    """A component to the packer: so many replicas, each needing `need`, on nodes whose byte in `admits` is 1."""

    replicas: int
    need: Row
    admits: bytes


@dataclass(frozen=True, slots=True)
class Packed:
    """How many whole sets fit, what they leave, and where the next one failed."""

    sets: int
    rows: list[Row]
    """What is left on each node when the next set fails, with the part of it that found a place."""

    failed: int | None
    """The demand that found no place; None when the limit was reached first."""

    missing: int
    """How many of its replicas found none."""


def pack(rows: list[Row], demands: Sequence[Demand], limit: int) -> Packed:
    """Pack sets of the demands onto nodes with these free amounts, at most `limit` of them. Takes over `rows`.

    Every demand has at least one replica, and needs something (a pod is a resource like any other).
    """
    run = _Run(rows, demands)
    memory = _Memory(run)
    while run.failed is None and run.sets < limit:
        if not memory.worthwhile:
            run.advance(limit)
        elif not memory.replay(limit):
            memory.record(limit)
    return Packed(run.sets, run.rows[:-1], run.failed, run.missing)


class _Run:
    """One packing under way: what is left on the nodes, where each component's pointer stands, and sets so far."""

    def __init__(self, rows: list[Row], demands: Sequence[Demand]) -> None:
        self.rows = rows
        rows.append(
            (-1,) * len(demands[0].need)
        )  # where a pointer stands that has run out of nodes: nothing fits there
        self.demands = demands
        self.at = [_first(demand.admits, 0) for demand in demands]
        self.sets = 0
        self.failed: int | None = None
        self.missing = 0
        self.moved = False
        self._pairs = [_pairs(demand.need) for demand in demands]
        self._whole = [tuple(amount * demand.replicas for amount in demand.need) for demand in demands]
        self._totals: dict[tuple[int, ...], tuple[Pairs, Row]] = {}
        self._all = self._total(tuple(range(len(demands))))

    def advance(self, limit: int) -> None:
        """Place one set, and when no pointer moved, at once all that land in the same places."""
        self.moved = False
        if self.place_one() and not self.moved:
            self.jump(limit)

    def place_one(self) -> bool:
        """Place one set; False when a replica finds no node, and then `failed` and `missing` say which."""
        rows = self.rows
        for number, (node, whole) in enumerate(zip(self.at, self._whole, strict=True)):
            row = rows[node]
            if all(map(ge, row, whole)):
                rows[node] = tuple(map(sub, row, whole))
            elif not self._spread(number):
                return False
        self.sets += 1
        return True

    def jump(self, limit: int) -> None:
        """Place all the sets that land whole where the pointers stand."""
        rows, at = self.rows, self.at
        if len(set(at)) == 1:
            groups = [(at[0], self._all)]
        else:
            members: dict[int, list[int]] = {}
            for number, node in enumerate(at):
                members.setdefault(node, []).append(number)
            groups = [(node, self._total(tuple(numbers))) for node, numbers in members.items()]
        times = limit - self.sets
        for node, (pairs, _) in groups:
            row = rows[node]
            for resource, amount in pairs:
                quotient = row[resource] // amount
                times = min(times, quotient)
        if times:
            for node, (_, total) in groups:
                rows[node] = tuple([free - amount * times for free, amount in zip(rows[node], total, strict=True)])
            self.sets += times

    def _spread(self, number: int) -> bool:
        """Place a component whose replicas do not all fit where its pointer stands."""
        demand, pairs, rows = self.demands[number], self._pairs[number], self.rows
        node, remaining, end = self.at[number], demand.replicas, len(demand.admits)
        while node < end:
            row = rows[node]
            take = remaining
            for resource, amount in pairs:
                quotient = row[resource] // amount
                take = min(take, quotient)
            if take:
                if take == 1:
                    rows[node] = tuple(map(sub, row, demand.need))
                else:
                    rows[node] = tuple([free - amount * take for free, amount in zip(row, demand.need, strict=True)])
                remaining -= take
                if not remaining:
                    break
            node = _first(demand.admits, node + 1)
        self.moved = True
        self.at[number] = node
        if remaining:
            self.failed, self.missing = number, remaining
        return not remaining

    def _total(self, numbers: tuple[int, ...]) -> tuple[Pairs, Row]:
        """What one set's replicas of several components take together."""
        found = self._totals.get(numbers)
        if found is None:
            total = tuple(sum(amounts) for amounts in zip(*(self._whole[number] for number in numbers), strict=True))
            found = self._totals[numbers] = (_pairs(total), total)
        return found


class _Memory:
    """What was seen to happen from one move of the hindmost pointer to the next, to be replayed.

    Untouched nodes are told apart by their kind (what is free, who is admitted), nodes between the pointers by what is
    left on them.
    """

    def __init__(self, run: _Run) -> None:
        self._run = run
        self._open = list(zip(*(demand.admits for demand in run.demands), strict=True))
        numbers: dict[object, int] = {}
        kinds = zip(run.rows[:-1], self._open, strict=True)
        self._kinds = [numbers.setdefault(kind, len(numbers)) for kind in kinds]
        self._seen: dict[object, dict[tuple[int, ...], tuple[int, list[int], list[Row]]]] = {}
        self._looks: dict[object, set[int]] = {}  # how many fresh nodes behind the pointers had a part in it
        self._trials = _TRIALS + len(run.rows) // 6
        self.worthwhile = True
        self._hits = self._misses = 0

    def replay(self, limit: int) -> bool:
        """Do what was done when pointers and nodes looked just like this; False when they never did."""
        run = self._run
        low, high = min(run.at), max(run.at)
        key = self._key(low, high)
        for look in self._looks.get(key, ()):
            end = high + 1 + look
            outcome = self._seen[key].get(tuple(self._kinds[high + 1 : end]))
            if outcome and run.sets + outcome[0] <= limit:
                run.sets += outcome[0]
                run.at = [low + offset for offset in outcome[1]]
                run.rows[low:end] = outcome[2]
                self._hits += 1
                return True
        return False

    def record(self, limit: int) -> None:
        """Let the packing go on until the hindmost pointer moves, and remember what it did."""
        run = self._run
        low, high = min(run.at), max(run.at)
        if high - low > _WIDEST_WINDOW:
            run.advance(limit)
            return
        key, sets = self._key(low, high), run.sets
        while run.failed is None and run.sets < limit and min(run.at) == low:
            run.advance(limit)
        end = max(run.at) + 1
        if run.failed is None and end - low <= 2 * _WIDEST_WINDOW:
            fresh = tuple(self._kinds[high + 1 : end])
            outcome = (run.sets - sets, [node - low for node in run.at], run.rows[low:end])
            self._seen.setdefault(key, {})[fresh] = outcome
            self._looks.setdefault(key, set()).add(len(fresh))
        self._misses += 1
        self.worthwhile = self._misses < self._trials or 2 * self._hits > self._misses

    def _key(self, low: int, high: int) -> object:
        run = self._run
        end = high + 1
        return tuple([node - low for node in run.at]), tuple(run.rows[low:end]), tuple(self._open[low:end])


def _first(admits: bytes, start: int) -> int:
    """The first admitted node from `start` on; one past the last when there is none."""
    node = admits.find(1, start)
    return len(admits) if node < 0 else node


def _pairs(amounts: Row) -> Pairs:
    return tuple((resource, amount) for resource, amount in enumerate(amounts) if amount)
