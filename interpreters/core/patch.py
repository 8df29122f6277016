"""JSON Patch (RFC 6902): what changed between an object and what a script made of it, and applying such a patch.

Libraries for this compare with `==`, for which True is 1, and turn nulls that a script cannot see into removals; so
the comparison is ours: a number is untouched if its value is, and an absent field is the same as null.
"""

from __future__ import annotations

import copy
from typing import Any

from interpreters.core.errors import RequestError

Patch = list[dict[str, Any]]


def diff(original: Any, changed: Any) -> Patch:
    """The operations that turn `original` into `changed`; empty when nothing changed."""
    patch: Patch = []
    _diff(original, changed, "", patch)
    return patch


def _diff(old: Any, new: Any, path: str, patch: Patch) -> None:
    if isinstance(old, dict) and isinstance(new, dict):
        _diff_objects(old, new, path, patch)
    elif isinstance(old, list) and isinstance(new, list):
        _diff_lists(old, new, path, patch)
    elif not same(old, new):
        patch.append({"op": "replace", "path": path, "value": new})


def _diff_objects(old: dict[str, Any], new: dict[str, Any], path: str, patch: Patch) -> None:
    for key, value in old.items():
        if value is not None and key not in new:
            patch.append({"op": "remove", "path": f"{path}/{_escape(key)}"})
    for key, value in new.items():
        if key in old:
            _diff(old[key], value, f"{path}/{_escape(key)}", patch)
        elif value is not None:
            patch.append({"op": "add", "path": f"{path}/{_escape(key)}", "value": value})


def _diff_lists(old: list[Any], new: list[Any], path: str, patch: Patch) -> None:
    start, common = 0, min(len(old), len(new))
    if len(old) != len(new):
        # Elements were added or removed: leave equal ends alone, so that dropping the first of many is one operation.
        while start < common and same(old[start], new[start]):
            start += 1
        tail = 0
        while tail < common - start and same(old[-1 - tail], new[-1 - tail]):
            tail += 1
        old_end, new_end = len(old) - tail, len(new) - tail
    else:
        old_end = new_end = common
    middle = min(old_end, new_end)
    for i in range(start, middle):
        _diff(old[i], new[i], f"{path}/{i}", patch)
    for i in range(old_end - 1, middle - 1, -1):
        patch.append({"op": "remove", "path": f"{path}/{i}"})
    for i in range(middle, new_end):
        patch.append({"op": "add", "path": f"{path}/{i}", "value": new[i]})


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
