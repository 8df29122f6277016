"""Whole sets on nodes, first fit: the exact answer without placing sets one by one.

The rule: place one set after the other; in a set, component by component, each replica on the first node that admits
and fits it; stop at the first set that does not fit whole. Placing only ever takes, so a node that refuses a component
refuses it for good. That gives three shortcuts which change no placement:

- every component keeps a pointer to the first node that still takes it, and pointers only move forward;
- as long as whole sets land where the pointers stand, they all land there: their number is a division;
- what happens until the hindmost pointer moves depends only on the nodes between the pointers and the few fresh ones
  behind them, so it is remembered and replayed where the same nodes come again; and when, in a run of equal nodes,
  pointers and nodes look as they did a few nodes ago, the rest of the run is a repetition.

The cost is that of nodes times components; the number of sets does not matter. No bin-packing library will do: they
minimise bins, while here one particular first fit, Karmada's, has to be repeated exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from estimator.fit.bitfields import Fields

_WIDEST_WINDOW: Final = 8  # nodes between the pointers; beyond it, remembering costs more than it saves
_TRIALS: Final = 300

Columns = Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True)
class Demand:
    """A component to the packer: so many replicas, each needing `need`, on nodes whose byte in `admits` is 1."""

    replicas: int
    need: tuple[int, ...]
    admits: bytes


@dataclass(frozen=True, slots=True)
class Packed:
    """How many whole sets fit, what they leave, and where the next one failed."""

    sets: int
    left: list[list[int]]
    """What is left when the next set fails, one column per resource, with the part of that set that found a place."""

    failed: int | None
    """The demand that found no place; None when the limit was reached first."""

    missing: int
    """How many of its replicas found none."""


def pack(free: Columns, demands: Sequence[Demand], limit: int) -> Packed:
    """Pack sets of the demands onto nodes, at most `limit` of them; `free` has one column of amounts per resource.

    Every demand has at least one replica, and needs something (a pod is a resource like any other).
    """
    run = _Run(free, demands)
    memory = _Memory(run)
    while run.failed is None and run.sets < limit:
        if memory.worthwhile:
            memory.advance(limit)
        else:
            run.advance(limit)
    return Packed(run.sets, run.fields.columns(run.rows[:-1]), run.failed, run.missing)


class _Run:
    """One packing under way: what is left on the nodes, where each component's pointer stands, and sets so far."""

    def __init__(self, free: Columns, demands: Sequence[Demand]) -> None:
        wholes = [[amount * demand.replicas for amount in demand.need] for demand in demands]
        self.fields = Fields.wide_enough([*free, *zip(*wholes, strict=True)], resources=len(free))
        self.rows = self.fields.rows(free)
        self.rows.append(self.fields.guards)  # for pointers that have run out of nodes: nothing is free there
        self.demands = demands
        self.at = [_following(demand.admits)(1, 0) for demand in demands]
        self.sets = 0
        self.failed: int | None = None
        self.missing = 0
        self._whole = [self.fields.amount(whole) for whole in wholes]
        self._plans = [
            (whole, self.fields.amount(demand.need), self.fields.parts(demand.need), _following(demand.admits))
            for whole, demand in zip(self._whole, demands, strict=True)
        ]
        self._totals: dict[int, list[tuple[int, int, int]]] = {}

    def advance(self, limit: int) -> None:
        """Place one set, and when no pointer moved, at once all that land in the same places."""
        before = self.at.copy()
        if self._place_one() and self.at == before:
            self._jump(limit)

    def _place_one(self) -> bool:
        """Place one set; False when a replica finds no node, and then `failed` and `missing` say which.

        Thousands of nodes pass through here for each component, so everything happens in one loop: where all that
        remains of a component does not fit, as much as does, then on to the next node.
        """
        rows, guards, at, end = self.rows, self.fields.guards, self.at, len(self.rows) - 1
        for number, (whole, need, parts, following) in enumerate(self._plans):
            node = at[number]
            rest = rows[node] - whole
            if rest & guards == guards:
                rows[node] = rest
                continue
            remaining = self.demands[number].replicas
            while rest & guards != guards:
                row = rows[node]
                if remaining > 1 and (row - need) & guards == guards:
                    take = remaining
                    for shift, mask, amount in parts:
                        quotient = (row >> shift & mask) // amount
                        if quotient < take:  # noqa: PLR1730 - a call of min() would double the time of this loop
                            take = quotient
                    rows[node] = row - need * take
                    remaining -= take
                    whole = need * remaining  # noqa: PLW2901 - what is still to be placed
                if node == end:
                    at[number], self.failed, self.missing = end, number, remaining
                    return False
                node = following(1, node + 1)
                rest = rows[node] - whole
            rows[node] = rest
            at[number] = node
        self.sets += 1
        return True

    def _jump(self, limit: int) -> None:
        """Place all the sets that land whole where the pointers stand."""
        rows = self.rows
        together: dict[int, int] = {}
        for node, whole in zip(self.at, self._whole, strict=True):
            together[node] = together.get(node, 0) + whole
        times = limit - self.sets
        for node, total in together.items():
            row = rows[node]
            for shift, mask, amount in self._total_parts(total):
                quotient = (row >> shift & mask) // amount
                if quotient < times:  # noqa: PLR1730 - as above
                    times = quotient
        if times:
            for node, total in together.items():
                rows[node] -= total * times
            self.sets += times

    def _total_parts(self, total: int) -> list[tuple[int, int, int]]:
        found = self._totals.get(total)
        if found is None:
            found = self._totals[total] = self.fields.parts([column[0] for column in self.fields.columns([total])])
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
        self._seen: dict[object, dict[tuple[int, ...], tuple[int, list[int], list[int]]]] = {}
        self._looks: dict[object, set[int]] = {}  # how many fresh nodes behind the pointers had a part in it
        self._passed: dict[object, tuple[int, int, int]] = {}
        self._run_ends = _run_ends(self._kinds)
        self._trials = _TRIALS + len(run.rows) // 12
        self.worthwhile = True
        self._hits = self._misses = 0

    def advance(self, limit: int) -> None:
        """Let the packing go on until the hindmost pointer moves, by heart where it was seen before."""
        run = self._run
        low, high = min(run.at), max(run.at)
        if high - low > _WIDEST_WINDOW:
            run.advance(limit)
            return
        end = high + 1
        key = tuple([node - low for node in run.at]), tuple(run.rows[low:end]), tuple(self._open[low:end])
        before = self._passed.get(key)
        self._passed[key] = (low, end, run.sets)
        if before and self._leap(before, low, end, limit):
            return
        if not self._replay(key, low, end, limit):
            self._record(key, low, end, limit)

    def _leap(self, before: tuple[int, int, int], low: int, end: int, limit: int) -> bool:
        """Repeat what happened since things last looked like this, as long as the run of equal nodes goes on."""
        run, (old_low, old_end, old_sets) = self._run, before
        step, sets = low - old_low, run.sets - old_sets
        if not step or self._run_ends[old_end] != self._run_ends[end - 1]:
            return False
        times = (self._run_ends[end - 1] - end) // step
        if sets:
            times = min(times, (limit - run.sets) // sets)
        if times < 1:
            return False
        window = run.rows[low:end]
        run.rows[low : low + times * step] = run.rows[old_low:low] * times
        run.rows[low + times * step : end + times * step] = window
        run.at = [node + times * step for node in run.at]
        run.sets += times * sets
        return True

    def _replay(self, key: object, low: int, start: int, limit: int) -> bool:
        """Do what was done when pointers and nodes looked just like this; False when they never did."""
        run = self._run
        for look in self._looks.get(key, ()):
            end = start + look
            outcome = self._seen[key].get(tuple(self._kinds[start:end]))
            if outcome and run.sets + outcome[0] <= limit:
                run.sets += outcome[0]
                run.at = [low + offset for offset in outcome[1]]
                run.rows[low:end] = outcome[2]
                self._hits += 1
                return True
        return False

    def _record(self, key: object, low: int, start: int, limit: int) -> None:
        run, sets = self._run, self._run.sets
        while run.failed is None and run.sets < limit and min(run.at) == low:
            run.advance(limit)
        end = max(run.at) + 1
        if run.failed is None and end - low <= 2 * _WIDEST_WINDOW:
            fresh = tuple(self._kinds[start:end])
            outcome = (run.sets - sets, [node - low for node in run.at], run.rows[low:end])
            self._seen.setdefault(key, {})[fresh] = outcome
            self._looks.setdefault(key, set()).add(len(fresh))
        self._misses += 1
        self.worthwhile = self._misses < self._trials or 2 * self._hits > self._misses


def _run_ends(kinds: Sequence[int]) -> list[int]:
    """For each node, the first node behind it that is of another kind; one past the last when there is none."""
    ends = [len(kinds)] * (len(kinds) + 1)
    for node in range(len(kinds) - 2, -1, -1):
        ends[node] = ends[node + 1] if kinds[node] == kinds[node + 1] else node + 1
    return ends


def _following(admits: bytes) -> Callable[[int, int], int]:
    """Called with 1 and a node: the first admitted node from there on; one past the last when there is none."""
    return (admits + b"\x01").find
