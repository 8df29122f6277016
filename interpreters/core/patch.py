"""JSON Patch (RFC 6902): what changed between an object and what a script made of it, and applying such a patch.

Libraries for this compare with `==`, for which True is 1, and turn nulls that a script cannot see into removals; so
the comparison is ours: a number is untouched if its value is, and an absent field is the same as null.
"""

from __future__ import annotations

import copy
from typing import Any, Final

from interpreters.core.errors import ReplyError, RequestError

Patch = list[dict[str, Any]]
Place = tuple[Any, ...]
"""Where a value is: its parent's place, its key, and how long the path to it would be. The root's is empty.

A path is written out only for an operation: a long key above many values would otherwise be copied for each of them.
"""

MOST_BYTES: Final = 1024 * 1024  # of paths, and of what stands around them
_AROUND: Final = 200  # bytes that an operation takes besides its path and value
_ENDS_COMPARED: Final = 3  # lists inside of lists of which equal ends are looked for; each level compares what is below


def diff(original: Any, changed: Any, most: int = MOST_BYTES) -> Patch:
    """The operations that turn `original` into `changed`; empty when nothing changed.

    Where they would take more than `most` bytes, besides the values that they set, the fields of the object itself are
    replaced as a whole. Raises `ReplyError` when even that takes more.
    """
    for deepest in (None, 1):
        making = _Making(most, deepest)
        try:
            making.compare(original, changed, (), 0, _ENDS_COMPARED)
        except _TooLongError:
            continue
        except RecursionError:
            raise ReplyError("", "the changed object is nested too deep") from None
        return making.patch
    raise ReplyError("", f"so many fields are changed that the patch would take more than {most} bytes for their names")


class _TooLongError(Exception):
    pass


class _Making:
    """A patch while it is made."""

    def __init__(self, most: int, deepest: int | None) -> None:
        self.patch: Patch = []
        self._left = most
        self._deepest = deepest  # what lies deeper is replaced as a whole

    def compare(self, old: Any, new: Any, place: Place, depth: int, ends: int) -> None:
        if depth != self._deepest and isinstance(old, dict) and isinstance(new, dict):
            self._compare_objects(old, new, place, depth + 1, ends)
        elif depth != self._deepest and isinstance(old, list) and isinstance(new, list):
            self._compare_lists(old, new, place, depth + 1, ends)
        elif not same(old, new):
            self._note("replace", place, value=new)

    def _compare_objects(self, old: dict[str, Any], new: dict[str, Any], place: Place, depth: int, ends: int) -> None:
        for key, value in old.items():
            if value is not None and key not in new:
                self._note("remove", _below(place, key))
        for key, value in new.items():
            if key in old:
                self.compare(old[key], value, _below(place, key), depth, ends)
            elif value is not None:
                self._note("add", _below(place, key), value=value)

    def _compare_lists(self, old: list[Any], new: list[Any], place: Place, depth: int, ends: int) -> None:
        start, common = 0, min(len(old), len(new))
        old_end = new_end = common
        if len(old) != len(new):
            if not ends:
                self._note("replace", place, value=new)
                return
            # Elements were added or removed: leave equal ends alone, so that dropping the first of many is one
            # operation.
            ends -= 1
            while start < common and same(old[start], new[start]):
                start += 1
            tail = 0
            while tail < common - start and same(old[-1 - tail], new[-1 - tail]):
                tail += 1
            old_end, new_end = len(old) - tail, len(new) - tail
        middle = min(old_end, new_end)
        for i in range(start, middle):
            self.compare(old[i], new[i], _below(place, str(i)), depth, ends)
        for i in range(old_end - 1, middle - 1, -1):
            self._note("remove", _below(place, str(i)))
        for i in range(middle, new_end):
            self._note("add", _below(place, str(i)), value=new[i])

    def _note(self, operation: str, place: Place, **value: Any) -> None:
        self._left -= _AROUND + (place[2] if place else 0)
        if self._left < 0:
            raise _TooLongError
        self.patch.append({"op": operation, "path": _path(place), **value})


def _below(place: Place, key: str) -> Place:
    return (place, key, (place[2] if place else 0) + 1 + len(key))


def _path(place: Place) -> str:
    keys: list[str] = []
    while place:
        keys.append(_escape(place[1]))
        place = place[0]
    return "".join(f"/{key}" for key in reversed(keys))


def same(left: Any, right: Any) -> bool:
    """Equal as JSON values in an object: 2 and 2.0 are, True and 1 are not, a null field and no field are."""
    if isinstance(left, dict) and isinstance(right, dict):
        return all(same(left.get(key), right.get(key)) for key in left.keys() | right.keys())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict | list) or isinstance(right, dict | list):
        return False
    return bool(left == right)


def apply(original: Any, patch: Patch) -> Any:
    """A changed copy of `original`. Raises `RequestError` when the patch does not fit it."""
    document = copy.deepcopy(original)
    for operation in patch:
        document = _apply_one(document, operation)
    return document


def _apply_one(document: Any, operation: dict[str, Any]) -> Any:
    path = operation["path"]
    keys = [_unescape(key) for key in path.split("/")[1:]]
    if not keys:
        return operation["value"]
    try:
        parent = document
        for key in keys[:-1]:
            parent = parent[int(key)] if isinstance(parent, list) else parent[key]
        key, op = keys[-1], operation["op"]
        if isinstance(parent, list):
            index = len(parent) if key == "-" else int(key)
            if op == "add":
                if index > len(parent):
                    raise IndexError(index)  # noqa: TRY301
                parent.insert(index, operation["value"])
            elif op == "remove":
                del parent[index]
            else:
                parent[index] = operation["value"]
        elif op == "remove":
            del parent[key]
        else:
            if op == "replace" and key not in parent:
                raise KeyError(key)  # noqa: TRY301
            parent[key] = operation["value"]
    except (KeyError, IndexError, TypeError, ValueError):
        raise RequestError(f"the patch does not fit the object: {operation['op']} {path}") from None
    return document


def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _unescape(key: str) -> str:
    return key.replace("~1", "/").replace("~0", "~")
