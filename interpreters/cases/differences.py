"""What a case changes about another value: applied, and found.

A change is a JSON merge patch (RFC 7386: mappings are merged, null removes a key, anything else replaces), with one
addition: where the value is a list and the change a mapping of positions, it changes these elements; null removes one,
and the position behind the last appends.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from interpreters.core.errors import InputError

_POSITION_COST: Final = 4  # what `"0": ` weighs against repeating an element


class UnsayableError(InputError):
    """A difference that no change can express: null as a value, or a mapping of positions where a list was."""


def changed(value: Any, change: Any) -> Any:
    """The value with the change applied; neither is altered. Raises `InputError` for positions that are not there."""
    if not isinstance(change, dict):
        return change
    if isinstance(value, list) and _names_positions(change):
        return _changed_list(value, change)
    result = dict(value) if isinstance(value, dict) else {}
    for key, part in change.items():
        if part is None:
            result.pop(key, None)
        else:
            result[key] = changed(result.get(key), part)
    return result


def _names_positions(change: dict[str, Any]) -> bool:
    return bool(change) and all(key.isascii() and key.isdigit() for key in change)


def _changed_list(value: list[Any], change: dict[str, Any]) -> list[Any]:
    result = list(value)
    for position, part in sorted((int(key), part) for key, part in change.items()):
        if position > len(result):
            raise InputError(f"position {position} is beyond the list, which has {len(value)} elements")
        if position == len(result):
            result.append(None)
        result[position] = _GONE if part is None else changed(result[position], part)
    return [element for element in result if element is not _GONE]


_GONE: Final = object()


def difference(before: Any, after: Any) -> Any:
    """The smallest change that leads from one to the other; `{}` if they are the same. Raises `UnsayableError`."""
    if isinstance(before, dict) and isinstance(after, dict):
        found: dict[str, Any] = dict.fromkeys(key for key in before if key not in after)
        for key, value in after.items():
            if key not in before:
                found[key] = _whole(value)
            elif not _equal(before[key], value):
                found[key] = difference(before[key], value)
        return found
    if isinstance(before, list) and isinstance(after, list) and before:
        return _list_difference(before, after)
    if isinstance(before, list) and isinstance(after, dict) and _names_positions(after):
        raise UnsayableError("a list that became a mapping of positions")
    return _whole(after)


def _list_difference(before: list[Any], after: list[Any]) -> Any:
    """By position, unless the whole list says it in less."""
    whole = after
    try:
        found = {
            str(i): None if i >= len(after) else difference(before[i] if i < len(before) else None, after[i])
            for i in range(max(len(before), len(after)))
            if i >= min(len(before), len(after)) or not _equal(before[i], after[i])
        }
    except UnsayableError:
        return whole
    size = sum(_POSITION_COST + _size(part) for part in found.values())
    return found if found and size <= _size(whole) else whole


def _whole(value: Any) -> Any:
    """The value as a change: null inside of mappings would remove a key instead of being one."""
    if value is None or (isinstance(value, dict) and any(_holds_null(part) for part in value.values())):
        raise UnsayableError("null is a value here")
    return value


def _holds_null(value: Any) -> bool:
    return value is None or (isinstance(value, dict) and any(_holds_null(part) for part in value.values()))


def _equal(left: Any, right: Any) -> bool:
    """To the letter: 1, 1.0 and true are three values, and so are null and nothing."""
    return msgspec.json.encode(left, order="sorted") == msgspec.json.encode(right, order="sorted")


def _size(value: Any) -> int:
    """About how many lines a value takes when written down, in quarters."""
    if isinstance(value, dict):
        return sum(4 + _size(part) if isinstance(part, dict | list) else 4 for part in value.values()) or 1
    if isinstance(value, list):
        return sum(_size(part) if isinstance(part, dict | list) else 4 for part in value) or 1
    return 1
