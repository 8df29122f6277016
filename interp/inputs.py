"""Reading the objects that a verb works on from files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from interpreters.core.documents import Document
from interpreters.core.errors import DocumentError, RequestError
from interpreters.core.kinds import GroupVersionKind
from interpreters.files import name_of, read_documents


def read_objects(paths: tuple[str, ...]) -> list[Document]:
    """All objects of all files, in order. Raises `DocumentError` when there is none."""
    objects = []
    for path in paths:
        found = read_documents(path)
        for number, document in enumerate(found, 1):
            try:
                GroupVersionKind.of(document)
            except RequestError as error:
                raise DocumentError(_of_several(path, number, len(found)), str(error)) from None
            for problem in _problems_of(document.get("metadata")):
                raise DocumentError(_of_several(path, number, len(found)), problem)
        objects += found
    if not objects:
        raise DocumentError(", ".join(map(name_of, paths)), "no object in it")
    return objects


def _problems_of(metadata: Any) -> Iterator[str]:
    """What an API server would refuse and we would misread: a namespace `no` is false, hence the default one."""
    if not isinstance(metadata, dict | None):
        yield f"metadata: expected an object, got {metadata!r:.40}"
        return
    for field in ("name", "namespace"):
        value = (metadata or {}).get(field)
        if not isinstance(value, str | None):
            yield f"metadata.{field}: expected a text, got {json.dumps(value)[:40]}; YAML wants quotes around it"


def _of_several(path: str, number: int, count: int) -> str:
    return f"{name_of(path)}: object {number}" if count > 1 else name_of(path)


def read_one_object(path: str) -> Document:
    objects = read_objects((path,))
    if len(objects) > 1:
        raise DocumentError(name_of(path), f"expected one object, got {len(objects)}")
    return objects[0]
