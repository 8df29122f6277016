"""Comparing a reply with what a case wants: by meaning, field by field, so that a failure says where.

Quantities are compared by value, components by name, dependencies as a set; an absent field equals an empty one, and
a field whose wanted text is `{{EXCLUDE}}` is not compared.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from interpreters.core.errors import QuantityError
from interpreters.core.patch import same
from interpreters.core.quantity import Quantity

EXCLUDE: Final = "{{EXCLUDE}}"
_QUANTITIES: Final = ("resourceRequest",)
_ABSENT: Final = object()


@dataclass(frozen=True, slots=True)
class Difference:
    """One field that is not as wanted. A missing side is shown as `nothing`."""

    path: str
    want: str
    got: str

    def __str__(self) -> str:
        return f"{self.path}: want {self.want}, got {self.got}"


def compare(want: dict[str, Any], got: dict[str, Any], *, partial: bool = False) -> list[Difference]:
    """Differences between the wanted response fields and the actual ones; `partial` looks only at what is wanted."""
    return list(_compare(_sorted(want), _sorted(got), "", partial))


def _sorted(fields: dict[str, Any]) -> dict[str, Any]:
    """Order has no meaning for components and dependencies."""
    sorts = {
        "components": lambda one: str(one.get("name")),
        "dependencies": lambda one: json.dumps(one, sort_keys=True),
    }
    return {
        name: sorted(value, key=sorts[name])
        if name in sorts and isinstance(value, list) and all(isinstance(one, dict) for one in value)
        else value
        for name, value in fields.items()
    }


def _compare(want: Any, got: Any, path: str, partial: bool) -> Iterator[Difference]:
    if want == EXCLUDE:
        return
    if isinstance(want, dict) and isinstance(got, dict):
        yield from _compare_objects(want, got, path, partial)
    elif isinstance(want, list) and isinstance(got, list):
        for i in range(max(len(want), len(got))):
            wanted = want[i] if i < len(want) else _ABSENT
            yield from _compare(wanted, got[i] if i < len(got) else _ABSENT, f"{path}[{i}]{_label(wanted)}", partial)
    elif not (_is_empty(want) and _is_empty(got)) and (want is _ABSENT or got is _ABSENT or not same(want, got)):
        yield Difference(path or "reply", _shown(want), _shown(got))


def _compare_objects(want: dict[str, Any], got: dict[str, Any], path: str, partial: bool) -> Iterator[Difference]:
    keys = want if partial else {**want, **got}
    for key in keys:
        where = f"{path}.{key}" if path else key
        wanted, actual = want.get(key, _ABSENT), got.get(key, _ABSENT)
        if key in _QUANTITIES and isinstance(wanted, dict) and isinstance(actual, dict):
            for name in wanted if partial else {**wanted, **actual}:
                want_amount, got_amount = wanted.get(name, _ABSENT), actual.get(name, _ABSENT)
                if not _same_amount(want_amount, got_amount):
                    yield Difference(f"{where}.{name}", _shown(want_amount), _shown(got_amount))
        else:
            yield from _compare(wanted, actual, where, partial)


def _same_amount(want: Any, got: Any) -> bool:
    try:
        return Quantity.parse(0 if want is _ABSENT else want) == Quantity.parse(0 if got is _ABSENT else got)
    except QuantityError:
        return bool(want == got)


def _is_empty(value: Any) -> bool:
    return value is _ABSENT or value is None or value in ({}, [])


def _label(element: Any) -> str:
    name = element.get("name") if isinstance(element, dict) else None
    return f"({name})" if isinstance(name, str) else ""


def _shown(value: Any) -> str:
    if value is _ABSENT:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else text[:197] + "..."
