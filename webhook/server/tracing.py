"""OpenTelemetry spans around requests, if its packages are installed and somebody set it up; nothing at all if not."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from importlib import import_module
from typing import Any

from interpreters.core.wire import Request

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_EXPORTERS = (
    "opentelemetry.exporter.otlp.proto.http.trace_exporter",
    "opentelemetry.exporter.otlp.proto.grpc.trace_exporter",
)


class Tracing:
    """Ask `enabled` before `span`: where nobody collects spans there are none."""

    def __init__(self, mode: str) -> None:
        self.enabled = False
        if mode == "off":
            return
        try:
            trace = import_module("opentelemetry.trace")
            self._extract = import_module("opentelemetry.propagate").extract
        except ImportError:
            return
        if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider) and not _set_up(trace):
            return
        self._tracer = trace.get_tracer("interp.webhook")
        self._kind = trace.SpanKind.SERVER
        self.enabled = True

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


def _set_up(trace: Any) -> bool:
    """Send spans where OpenTelemetry's own variables say, unless whoever started us has arranged that already."""
    if not any(os.environ.get(name) for name in _ENDPOINTS):
        return False
    for exporter in _EXPORTERS:
        try:
            sdk, export = import_module("opentelemetry.sdk.trace"), import_module("opentelemetry.sdk.trace.export")
            provider = sdk.TracerProvider()
            provider.add_span_processor(export.BatchSpanProcessor(import_module(exporter).OTLPSpanExporter()))
        except ImportError:
            continue
        trace.set_tracer_provider(provider)
        return True
    return False
