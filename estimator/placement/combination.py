"""Which regions together: the combination that Karmada's search ends at, without searching all of them.

A combination is complete when it has enough places and clusters, and no longer is without its largest place. Of the
complete ones the best total score counts, then the most clusters, then the one found first when places are tried in
order of size. If the best places of that combination are complete by themselves, they are enough. Karmada walks through
all combinations; keeping the best of each number of places and clusters ends at the same one, and its effort grows with
places x most x clusters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Ranked = tuple[tuple[int, int], tuple[int, ...]]
"""Total score and clusters; and which places, by their rank in order of size."""


@dataclass(frozen=True, slots=True)
class Place:
    """A region, provider or zone: how many clusters it has, and how good it is."""

    name: str
    clusters: int
    score: int


def best_combination(places: Sequence[Place], least: int, most: int, clusters: int) -> list[Place]:
    """The places to take, best first: `least` to `most` of them, with so many clusters together; none: impossible."""
    order = sorted(places, key=lambda place: (place.clusters, -place.score, place.name))
    found = _best(order, least, most, clusters)
    if found is None:
        return []
    ranks = sorted(found, key=lambda rank: (-order[rank].score, order[rank].name))
    for count in range(1, len(ranks)):
        part = sorted(ranks[:count])
        before = sum(order[rank].clusters for rank in part[:-1])
        if _completes(before, order[part[-1]], count, least, most, clusters):
            return [order[rank] for rank in ranks[:count]]
    return [order[rank] for rank in ranks]


def _best(order: Sequence[Place], least: int, most: int, clusters: int) -> tuple[int, ...] | None:
    partial: dict[tuple[int, int], Ranked] = {(0, 0): ((0, 0), ())}
    complete: Ranked | None = None
    for rank, place in enumerate(order):
        for (count, have), ((score, total), taken) in list(partial.items()):
            if count == most:
                continue
            longer = ((score + place.score, total + place.clusters), (*taken, rank))
            if _completes(have, place, count + 1, least, most, clusters):
                complete = _better(complete, longer)
            else:
                key = (count + 1, min(have + place.clusters, clusters))
                partial[key] = _better(partial.get(key), longer)
    return complete[1] if complete else None


def _completes(before: int, last: Place, count: int, least: int, most: int, clusters: int) -> bool:
    """Whether the largest place makes a combination of `count` complete that was not before."""
    is_complete = least <= count <= most and before + last.clusters >= clusters
    was_complete = count - 1 >= least and before >= clusters
    return is_complete and not was_complete


def _better(one: Ranked | None, other: Ranked) -> Ranked:
    if one is None or other[0] > one[0] or (other[0] == one[0] and other[1] < one[1]):
        return other
    return one
