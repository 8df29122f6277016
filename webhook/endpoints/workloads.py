"""Asking the scripts what pods an object stands for, for the endpoints that estimate and admit."""

from __future__ import annotations

from interpreters.core.interpreted import Interpreted
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import OPERATIONS, Answer
from interpreters.core.wire import Reply, Request
from interpreters.interpretation import interpret_async
from webhook.endpoints.service import Service

_COMPONENTS = next(operation for operation in OPERATIONS if operation.answer is Answer.COMPONENTS)
_REPLICAS = next(operation for operation in OPERATIONS if operation.answer is Answer.REPLICAS)


async def interpreted(service: Service, kind: GroupVersionKind, obj: bytes, deadline: float) -> Interpreted:
    """The components, or without a script for those the replicas. Raises `InterpError`."""
    operation = _COMPONENTS if service.catalog.concerns(kind, _COMPONENTS) else _REPLICAS
    service.load.begin(kind)
    try:
        asked = Request(operation, kind, obj)
        done = await interpret_async(service.pool, service.background, service.catalog, asked, deadline)
    finally:
        service.load.end(kind)
    return of_reply(done.reply)


def of_reply(reply: Reply) -> Interpreted:
    components = None if reply.components is None else tuple(reply.components)
    return Interpreted(components, reply.replicas, reply.replica_requirements)
