"""How much of a policy is looked at: checking every group against every cluster must end, whatever a policy holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

MOST_ELEMENTS: Final = 1000
"""Elements of a list. Lists of names and values are whole, or else a cluster named in them would seem not to be."""

_LISTS: Final = frozenset(
    {
        "resourceSelectors",
        "clusterAffinities",
        "overflowAffinities",
        "spreadConstraints",
        "clusterTolerations",
        "staticWeightList",
        "matchExpressions",
    }
)

Cut = tuple[str, str]
"""The field that was too long, and what to say about it."""


def shortened(spec: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[Cut]]:
    """The same policy with no list longer than is looked at, and what was left out of it."""
    cut = list(_too_long(spec, "spec"))
    return (_cut(spec), cut) if cut else (spec, [])


def _too_long(value: Any, path: str) -> Iterator[Cut]:
    for name, item in value.items() if isinstance(value, Mapping) else ():
        where = f"{path}.{name}"
        if isinstance(item, list) and name in _LISTS:
            if len(item) > MOST_ELEMENTS:
                yield where, f"the first {MOST_ELEMENTS} were looked at, and {len(item) - MOST_ELEMENTS} more were not"
            for i, element in enumerate(item[:MOST_ELEMENTS]):
                yield from _too_long(element, f"{where}[{i}]")
        else:
            yield from _too_long(item, where)


def _cut(value: Any, name: str = "") -> Any:
    if isinstance(value, Mapping):
        return {key: _cut(item, key) for key, item in value.items()}
    if isinstance(value, list):
        return [_cut(item) for item in (value[:MOST_ELEMENTS] if name in _LISTS else value)]
    return value
