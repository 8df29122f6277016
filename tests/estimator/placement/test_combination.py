"""The best combination of places, against a walk through all of them."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from estimator.placement.combination import Place, best_combination

PLACES = st.lists(st.tuples(st.integers(1, 4), st.integers(0, 5)), max_size=6)


def walked(places: list[Place], least: int, most: int, clusters: int) -> list[Place]:
    """All complete combinations, the best of them, and the shortest part of it that is one as well."""
    order = sorted(places, key=lambda place: (place.clusters, -place.score, place.name))

    def suffices(taken: tuple[int, ...]) -> bool:
        return least <= len(taken) <= most and sum(order[rank].clusters for rank in taken) >= clusters

    everything = (taken for count in range(1, most + 1) for taken in combinations(range(len(order)), count))
    complete = [taken for taken in everything if suffices(taken) and not suffices(taken[:-1])]
    if not complete:
        return []
    totals = {taken: [sum(getattr(order[rank], part) for rank in taken) for part in ("score", "clusters")]
              for taken in complete}  # fmt: skip
    best = min(complete, key=lambda taken: ([-total for total in totals[taken]], taken))
    ranks = sorted(best, key=lambda rank: (-order[rank].score, order[rank].name))
    parts = (ranks[:count] for count in range(1, len(ranks) + 1))
    enough = next(part for part in parts if tuple(sorted(part)) in complete)
    return [order[rank] for rank in enough]


@settings(max_examples=300)
@given(PLACES, st.integers(1, 3), st.integers(0, 3), st.integers(1, 9))
def test_the_same_places_as_by_trying_all_combinations(
    sizes: list[tuple[int, int]], least: int, more: int, clusters: int
) -> None:
    places = [Place(f"p{i}", size, score) for i, (size, score) in enumerate(sizes)]
    most = min(least + more, len(places))
    assert best_combination(places, least, most, clusters) == walked(places, least, most, clusters)
