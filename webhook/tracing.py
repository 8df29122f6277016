"""OpenTelemetry spans around requests, if its packages are installed; nothing at all if not."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from importlib import import_module
from typing import Any

from interpreters.core.wire import Request


class Tracing:
    """Ask `enabled` before `span`: without the packages there are none."""

    def __init__(self, mode: str) -> None:
        self._tracer: Any = None
        if mode == "off":
            return
        try:
            trace = import_module("opentelemetry.trace")
            self._extract = import_module("opentelemetry.propagate").extract
        except ImportError:
            return
        self._tracer = trace.get_tracer("interp.webhook")
        self._kind = trace.SpanKind.SERVER

    @property
    def enabled(self) -> bool:
        return self._tracer is not None

    def span(self, request: Request, headers: Mapping[str, str]) -> AbstractContextManager[Any]:
        context = self._extract({name.lower(): value for name, value in headers.items()})
        attributes = {
            "interp.uid": request.uid,
            "interp.operation": request.operation.name,
            "interp.kind": str(request.kind),
        }
        span: AbstractContextManager[Any] = self._tracer.start_as_current_span(
            f"interpret {request.operation.name}", context=context, kind=self._kind, attributes=attributes
        )
        return span
