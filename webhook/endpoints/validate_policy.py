"""POST /validate-policy: AdmissionReviews of propagation policies, refused for what Karmada would stumble over."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING

from aiohttp.web_request import BaseRequest
from aiohttp.web_response import Response

from webhook.endpoints import openapi
from webhook.endpoints.service import Service
from webhook.server.bodies import received
from webhook.server.listener import Route

if TYPE_CHECKING:
    from webhook.endpoints.policies import PolicyJudge

PATH = "/validate-policy"


def policy_routes(service: Service) -> list[Route]:
    judges: list[PolicyJudge] = []

    async def answer(request: BaseRequest) -> Response:
        async with received(request, service.settings, service.load) as (body, deadline):
            if not judges:
                # What the rules need takes a moment to import, and many servers are never asked.
                module = await asyncio.to_thread(import_module, "webhook.endpoints.policies")
                judges.append(module.PolicyJudge(service.settings, service.background, lambda: service.catalog))
            return Response(body=await judges[0].review(body, deadline), content_type="application/json")

    return [Route("POST", PATH, answer, DESCRIPTION)]


DESCRIPTION = openapi.operation(
    "Admit or deny a PropagationPolicy or ClusterPropagationPolicy by the rules of its placement.",
    openapi.REVIEW_REQUEST,
    openapi.REVIEW_RESPONSE,
    _502="The Karmada API server cannot be asked for its clusters.",
)
