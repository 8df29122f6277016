"""The endpoints that look at the service itself: /healthz, /readyz, /metrics, /version and /openapi.json."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from aiohttp.web_request import BaseRequest
from aiohttp.web_response import Response
from prometheus_client import CONTENT_TYPE_LATEST

from interpreters import __version__
from webhook.endpoints import openapi
from webhook.endpoints.service import Check, Service, digest_of
from webhook.server.listener import Route, json_response

_MOST_TOLD = 50  # broken scripts; the log has all of them
_CHECK_SECONDS = 2.0
_OK = "ok"


def health_routes(service: Service) -> list[Route]:
    """What every listener serves, so that probes work wherever they point."""

    async def healthz(request: BaseRequest) -> Response:
        return json_response({"status": "ok"})

    async def readyz(request: BaseRequest) -> Response:
        ready, detail = await readiness(service)
        return json_response(detail, 200 if ready else 503)

    async def admission_readyz(request: BaseRequest) -> Response:
        checks = await outcomes(service.admission_checks)
        ready = not service.draining and all(word == _OK for word in checks.values())
        return json_response({"ready": ready, "draining": service.draining, "checks": checks}, 200 if ready else 503)

    routes = [
        Route("GET", "/healthz", healthz, openapi.HEALTHZ),
        Route("GET", "/readyz", readyz, openapi.READYZ),
    ]
    if service.settings.ledger:
        routes.append(Route("GET", "/readyz/admit", admission_readyz, openapi.READYZ_ADMIT))
    return routes


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
    checks = await outcomes(service.checks)
    ready = not service.draining and all(word == _OK for word in checks.values())
    # What concerns /admit alone must not stop interpretation: every server would leave rotation at once.
    for name, word in (await outcomes(service.admission_checks)).items():
        checks[name] = word if word == _OK else f"degraded: {word}"
    detail: dict[str, Any] = {"ready": ready, "draining": service.draining, "checks": checks}
    if service.hardening.words:
        detail["hardening"] = service.hardening.words
    warnings = dict(service.warnings)
    if unserved := service.pool.unserved():
        warnings["workers"] = f"no sandbox worker is up for {', '.join(unserved)}"
    if warnings:
        detail["warnings"] = warnings
    if broken := service.catalog.own_broken:
        # Not a reason to take this server out of rotation: it answers for the other kinds, as others would.
        detail["brokenScripts"] = {entry.name: str(entry.error) for entry in broken[:_MOST_TOLD]}
        if len(broken) > _MOST_TOLD:
            detail["brokenScripts"]["…"] = f"and {len(broken) - _MOST_TOLD} more"
    if service.reloads.failures:
        # Neither is this: what it had goes on serving.
        detail["failedReloads"] = dict(service.reloads.failures)
    return ready, detail


async def outcomes(checks: Mapping[str, Check]) -> dict[str, str]:
    """What each check says, all asked at once."""

    async def outcome(check: Check) -> str:
        try:
            async with asyncio.timeout(_CHECK_SECONDS):
                return await check() or _OK
        except TimeoutError:
            return f"no answer within {_CHECK_SECONDS:g} s"

    return dict(zip(checks, await asyncio.gather(*map(outcome, checks.values())), strict=True))


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
