"""Reading what a verb works on: objects, observed objects and status items from files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from interpreters.core.documents import Document, load_values
from interpreters.core.errors import DocumentError
from interpreters.files import read_bytes, read_documents


def read_objects(paths: tuple[str, ...]) -> list[Document]:
    """All objects of all files, in order. Raises `DocumentError` when there is none."""
    objects = [document for path in paths for document in read_documents(path)]
    if not objects:
        raise DocumentError(", ".join(paths), "no object in it")
    return objects


def read_one_object(path: str) -> Document:
    objects = read_objects((path,))
    if len(objects) > 1:
        raise DocumentError(path, f"expected one object, got {len(objects)}")
    return objects[0]


def read_status_items(path: str) -> list[dict[str, Any]]:
    """Status items of member clusters: a list, several documents, or an object with `aggregatedStatus` or `status`."""
    items = [item for value in load_values(read_bytes(path), path) for item in _items(value)]
    for item in items:
        if not isinstance(item, dict) or "clusterName" not in item:
            raise DocumentError(path, f"expected status items with a clusterName, got {item!r:.60}")
    return items


def _items(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    for holder in (value, value.get("status")) if isinstance(value, dict) else ():
        if isinstance(holder, dict) and isinstance(holder.get("aggregatedStatus"), list):
            return list(holder["aggregatedStatus"])
    return [value]


def modified(paths: list[Path]) -> dict[Path, float]:
    """When each file was last changed; for watching."""
    files = [file for path in paths for file in ([path] if path.is_file() else path.rglob("*"))]
    return {file: file.stat().st_mtime for file in files if file.is_file()}
