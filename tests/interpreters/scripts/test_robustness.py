"""Objects with parts missing: a script answers with a default or says in its own words what is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from interpreters.cases import Case
from interpreters.core.errors import ScriptError
from interpreters.core.kinds import GroupVersionKind
from tests.interpreters.scripts.bundled import arguments, call, cases, scripts

RAW = re.compile(r"attempt to |bad argument|missing required field|expected `")
Path = tuple[str | int, ...]


def paths(value: Any, above: Path = ()) -> Iterator[Path]:
    """Every field and list item, parents before their children."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*above, key)
        yield from paths(item, (*above, key))


def without(value: Any, path: Path) -> Any:
    """The value less what is at the path; only what lies on the way is copied."""
    key, *rest = path
    changed = dict(value) if isinstance(value, dict) else list(value)
    if rest:
        changed[key] = without(changed[key], tuple(rest))
    else:
        del changed[key]
    return changed


def damaged(obj: Any) -> Iterator[Any]:
    """The object without each part, and without each two neighbouring parts."""
    every = list(paths(obj))
    for path in every:
        yield without(obj, path)
    for first, second in pairwise(every):
        if second[: len(first)] != first:  # else the first takes the second along
            yield without(without(obj, second), first)


def representative(kind: GroupVersionKind) -> Iterator[Case]:
    """The largest object of each operation: it has every part that the smaller ones have."""
    by_operation: dict[str, Case] = {}
    for case in cases(kind):
        best = by_operation.get(case.operation.name)
        if case.want_error is None and (best is None or len(str(case.object)) > len(str(best.object))):
            by_operation[case.operation.name] = case
    yield from by_operation.values()


@pytest.mark.parametrize("kind", sorted(scripts()), ids=str)
def test_no_missing_part_breaks_a_script(kind: GroupVersionKind) -> None:
    for case in representative(kind):
        for obj in damaged(case.object):
            try:
                call(kind, case.operation.function, arguments(case.operation, obj, case))
            except ScriptError as error:
                assert not RAW.search(str(error)), (case.name, obj)


@pytest.mark.parametrize("kind", sorted(scripts()), ids=str)
def test_an_empty_object_is_answered(kind: GroupVersionKind) -> None:
    bare = {"apiVersion": kind.api_version, "kind": kind.kind}
    for case in representative(kind):
        call(kind, case.operation.function, arguments(case.operation, bare, case))
