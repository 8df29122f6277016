"""The endpoints that look at the service itself: /healthz, /readyz, /metrics, /version and /openapi.json."""

from __future__ import annotations

import asyncio
from typing import Any

from aiohttp.web_request import BaseRequest
from aiohttp.web_response import Response
from prometheus_client import CONTENT_TYPE_LATEST

from interpreters import __version__
from webhook import openapi
from webhook.listener import Route, json_response
from webhook.service import Service, digest_of

_CHECK_SECONDS = 2.0


def health_routes(service: Service) -> list[Route]:
    """What every listener serves, so that probes work wherever they point."""

    async def healthz(request: BaseRequest) -> Response:
        return json_response({"status": "ok"})

    async def readyz(request: BaseRequest) -> Response:
        ready, detail = await readiness(service)
        return json_response(detail, 200 if ready else 503)

    return [
        Route("GET", "/healthz", healthz, openapi.HEALTHZ),
        Route("GET", "/readyz", readyz, openapi.READYZ),
    ]


def inspection_routes(service: Service) -> list[Route]:
    """What belongs on the second listener if there is one."""

    async def metrics(request: BaseRequest) -> Response:
        service.observe()
        text = await asyncio.to_thread(service.metrics.exposition)
        return Response(body=text, headers={"Content-Type": CONTENT_TYPE_LATEST})

    async def version(request: BaseRequest) -> Response:
        return json_response({"version": __version__, "scripts": digest_of(service.catalog), "kinds": kinds(service)})

    async def describe(request: BaseRequest) -> Response:
        return json_response(openapi.document(__version__, service.routes, service.shapes))

    return [
        Route("GET", "/metrics", metrics, openapi.METRICS),
        Route("GET", "/version", version, openapi.VERSION),
        Route("GET", "/openapi.json", describe, openapi.OPENAPI),
    ]


async def readiness(service: Service) -> tuple[bool, dict[str, Any]]:
    """Ready or not, and each check's own word: `ok`, or what is wrong."""
    checks: dict[str, str] = {}
    for name, check in service.checks.items():
        try:
            async with asyncio.timeout(_CHECK_SECONDS):
                checks[name] = await check() or "ok"
        except TimeoutError:
            checks[name] = f"no answer within {_CHECK_SECONDS:g} s"
    ready = not service.draining and all(word == "ok" for word in checks.values())
    detail: dict[str, Any] = {"ready": ready, "draining": service.draining, "checks": checks}
    if service.hardening.words:
        detail["hardening"] = service.hardening.words
    if service.warnings:
        detail["warnings"] = dict(service.warnings)
    if broken := service.catalog.own_broken:
        # Not a reason to take this server out of rotation: it answers for the other kinds, as others would.
        detail["brokenScripts"] = {entry.name: str(entry.error) for entry in broken}
    if service.reloads.failures:
        # Neither is this: what it had goes on serving.
        detail["failedReloads"] = dict(service.reloads.failures)
    return ready, detail


def kinds(service: Service) -> dict[str, list[str]]:
    """Every kind that is answered for, with its operations."""
    catalog = service.catalog
    answered = {
        str(kind): [
            operation.name for operation, _ in catalog.operations(kind) if not catalog.in_the_way(kind, operation)
        ]
        for kind in catalog.kinds
    }
    return {kind: operations for kind, operations in answered.items() if operations}
