"""What `interp run` asks about: objects, and for some operations the observed object, status items or replicas."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from interpreters.core.documents import Document, load_values
from interpreters.core.errors import DocumentError
from interpreters.core.operations import Argument, Operation
from interpreters.files import name_of, read_bytes
from interpreters.interpretation import request_for


class Inputs(Struct, frozen=True):
    """What the questions are about. None: not given."""

    objects: list[Document]
    observed: Document | None
    status: list[dict[str, Any]] | None
    replicas: int | None

    def missing(self, operation: Operation) -> str | None:
        """The flag that this operation needs and that was not given."""
        needs = {
            Argument.OBSERVED: ("--observed", self.observed),
            Argument.STATUS: ("--status", self.status),
            Argument.REPLICAS: ("--replicas", self.replicas),
        }
        return next((needs[a][0] for a in operation.arguments if a in needs and needs[a][1] is None), None)

    def request(self, obj: Document, operation: Operation) -> Any:
        more: dict[str, Any] = {"replicas": self.replicas or 0}
        if self.observed is not None:
            more["observed_object"] = msgspec.json.encode(self.observed)
        if self.status is not None:
            more["aggregated_status"] = msgspec.json.encode(self.status)
        return request_for(obj, operation, **more)


def read_status_items(path: str) -> list[dict[str, Any]]:
    """Status items of member clusters: a list, several documents, or an object with `aggregatedStatus` or `status`."""
    items = [item for value in load_values(read_bytes(path), name_of(path)) for item in _items(value)]
    for item in items:
        if not isinstance(item, dict) or "clusterName" not in item:
            raise DocumentError(name_of(path), f"expected status items with a clusterName, got {item!r:.60}")
    return items


def _items(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    for holder in (value, value.get("status")) if isinstance(value, dict) else ():
        if isinstance(holder, dict) and isinstance(holder.get("aggregatedStatus"), list):
            return list(holder["aggregatedStatus"])
    return [value]
