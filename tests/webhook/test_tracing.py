"""Spans exist when OpenTelemetry is installed, belong to the caller's trace, and name what was asked."""

from __future__ import annotations

import subprocess
import sys

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import BY_NAME
from interpreters.core.wire import Request
from webhook.server.tracing import Tracing

TRACE = "0af7651916cd43dd8448eb211c80319c"
REQUEST = Request(BY_NAME["Retain"], GroupVersionKind("stage.example.org", "v1", "Act"), b"{}", uid="u-1")


def test_without_anybody_who_collects_them_there_are_no_spans() -> None:
    code = "from webhook.server.tracing import Tracing; print(Tracing('auto').enabled)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_span_continues_the_callers_trace_and_names_operation_kind_and_uid() -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    tracing = Tracing("auto")
    assert tracing.enabled
    with tracing.span(REQUEST, {"Traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}):
        pass
    (span,) = exporter.get_finished_spans()
    assert span.name == "interpret Retain"
    assert f"{span.get_span_context().trace_id:032x}" == TRACE
    assert dict(span.attributes or {}) == {
        "interp.uid": "u-1",
        "interp.operation": "Retain",
        "interp.kind": "stage.example.org/v1 Act",
    }


def test_it_can_be_switched_off() -> None:
    assert not Tracing("off").enabled
