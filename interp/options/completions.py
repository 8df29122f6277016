"""What a shell may complete beyond names of options and files: kinds, operations, and the values of a setting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import click

Completion = Callable[[click.Context, click.Parameter, str], list[str]]


def complete_kinds(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Kinds that some script answers for, with version and group where the kind alone means several, and those of
    further versions besides."""
    from interpreters.scan import scan

    places = [Path(place) for option in ("scripts", "folders") for place in context.params.get(option) or ()]
    found = scan([place for place in places if place.exists()])
    homes = {entry.kind for entry in found if entry.kind is not None}
    several = Counter(kind.kind for kind in homes)
    kinds = sorted({kind for entry in found for kind in entry.kinds if kind is not None})
    names = [
        kind.kind if kind in homes and several[kind.kind] == 1 else f"{kind.kind}.{kind.version}.{kind.group or 'core'}"
        for kind in kinds
    ]
    return _beginning(names, incomplete)


def complete_kind_patterns(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The last of several patterns: kinds as `Kind`, or `group/version/Kind` where that means several."""

    def pattern(name: str) -> str:
        kind, _, rest = name.partition(".")
        version, _, group = rest.partition(".")
        return f"{group}/{version}/{kind}" if rest else kind

    known = map(pattern, complete_kinds(context, parameter, ""))
    return _last_of_several(known, incomplete)


def complete_operations(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """The last of several operations that may be registered."""
    from interpreters.core.operations import OPERATIONS

    return _last_of_several((operation.name for operation in OPERATIONS if operation.registrable), incomplete)


def one_of(values: Sequence[str]) -> Completion:
    """A completion among fixed values, which are judged elsewhere."""
    return lambda _context, _parameter, incomplete: _beginning(values, incomplete)


def _last_of_several(names: Iterable[str], incomplete: str) -> list[str]:
    before, comma, last = incomplete.rpartition(",")
    given = set(before.split(","))
    return [f"{before}{comma}{name}" for name in _beginning(names, last) if name not in given]


def _beginning(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.lower().startswith(incomplete.lower())]
