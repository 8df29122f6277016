"""POST /admit: AdmissionReviews of workloads and bindings, decided by quota and by whether any cluster fits one set."""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import parse_qsl

import msgspec
from aiohttp.web_request import BaseRequest
from aiohttp.web_response import Response

from estimator.accounting.admission.dry_run import TrialReport
from estimator.accounting.admission.review import AdmissionRequest, Verdict, decode_review, encode_review
from estimator.accounting.ledger.database import LedgerError
from interpreters.core.errors import InterpError, RequestError
from webhook.endpoints import openapi
from webhook.endpoints.admission.accounting import Accounting, Unready
from webhook.endpoints.admission.dry_run import MOST_CLUSTERS, ManifestList, is_list, tried
from webhook.endpoints.admission.reviewed import interpretation_of, seconds_left
from webhook.endpoints.admission.scaling import grown_whole
from webhook.endpoints.service import Service
from webhook.server.bodies import received
from webhook.server.listener import Route, json_response
from webhook.server.logs import LOGGER
from webhook.server.problems import HttpProblem

PATH = "/admit"
_LATE = "no answer within the caller's timeout"
_IS_SHORT_NUMBER = re.compile(r"[0-9]{1,9}").fullmatch
_BUSY, _SERVER_ERROR = 429, 500
_DRY_RUN = ("", "true", "All")  # the last is Kubernetes' own word


def admit_routes(service: Service, accounting: Accounting) -> list[Route]:
    async def answer(request: BaseRequest) -> Response:
        started = time.monotonic()
        asked = _Asked()
        try:
            query = _query(request)
            async with received(request, service.settings, service.load) as (body, deadline):
                if query.is_trial and await service.background.run(len(body), deadline, is_list, body):
                    asked.is_list = True
                    return await trial(body, query.clusters, deadline)
                response, outcome = await decided(asked, body, query, deadline)
        except (HttpProblem, InterpError, TimeoutError) as error:
            if asked.is_list:
                raise
            service.metrics.admission_seconds.labels("failed").observe(time.monotonic() - started)
            problem = failed(asked.review, error)
            if problem is error:
                raise
            raise problem from error
        service.metrics.admission_seconds.labels(outcome).observe(time.monotonic() - started)
        return response

    async def trial(body: bytes, clusters: int | None, deadline: float) -> Response:
        """Of manifests that nobody has sent to the API server: none of the metrics of admission concerns it."""
        try:
            async with asyncio.timeout_at(deadline):
                return json_response(await tried(service, accounting, body, clusters, deadline))
        except (LedgerError, TimeoutError) as error:
            cause = "ledger" if isinstance(error, LedgerError) else "timeout"
            raise HttpProblem(503, cause, str(error) or _LATE) from error

    async def decided(asked: _Asked, body: bytes, query: _Query, deadline: float) -> tuple[Response, str]:
        if query.clusters is not None:
            raise HttpProblem(400, "clusters", "the query's clusters: goes with dryRun and a List of manifests")
        review = decode_review(body)
        asked.review = review = msgspec.structs.replace(review, dry_run=True) if query.is_trial else review
        # A ledger that cannot be written is an HTTP error, so that the registered failurePolicy decides.
        async with asyncio.timeout_at(deadline):
            verdict = await decide(review, deadline)
        accounting.state.note(None)
        outcome = "allowed" if verdict.allowed else "denied"
        service.metrics.admissions.labels(outcome).inc()
        return Response(body=encode_review(review.uid, verdict), content_type="application/json"), outcome

    async def decide(review: AdmissionRequest, deadline: float) -> Verdict:
        await accounting.refuse_unready()
        if scaled := grown_whole(service.catalog, review):
            if not await accounting.gate.quotas.of_namespace(review.workload.namespace):
                return Verdict(True)
            return await accounting.gate.decide(*scaled, seconds_left(deadline))
        said = await interpretation_of(service, accounting, review, deadline)
        return await accounting.gate.decide(review, said, seconds_left(deadline))

    def failed(review: AdmissionRequest | None, error: Exception) -> HttpProblem:
        """Log and count it: an admission that nobody decided, whatever the reason, must not pass in silence."""
        problem = _problem(error)
        if isinstance(error, LedgerError | TimeoutError) and not isinstance(error, Unready):
            accounting.state.note(problem.message)
        cause = problem.reason if problem.status >= _SERVER_ERROR else "busy" if problem.status == _BUSY else "request"
        service.metrics.admission_failures.labels(cause).inc()
        about = {} if review is None else {"request": review.uid, "operation": review.operation,
                                           "workload": _named(review)}  # fmt: skip
        LOGGER.error("an admission was not decided", extra={"reason": problem.message, "cause": cause, **about})
        return problem

    return [Route("POST", PATH, answer, DESCRIPTION)]


@dataclass(slots=True)
class _Asked:
    """What is known of a request while it is read."""

    review: AdmissionRequest | None = None
    is_list: bool = False


def _problem(error: Exception) -> HttpProblem:
    """The answer to a request that was not decided."""
    if isinstance(error, HttpProblem):
        return error
    if isinstance(error, TimeoutError):
        return HttpProblem(503, "timeout", _LATE)
    if isinstance(error, LedgerError):
        return HttpProblem(error.code, "ledger", str(error))
    code, fault = (error.code, error.fault) if isinstance(error, InterpError) else (500, "ours")
    return HttpProblem(code, "other" if code >= _SERVER_ERROR else fault, str(error))


def _named(review: AdmissionRequest) -> str:
    try:
        return str(review.workload)
    except RequestError:
        return f"{review.kind} {review.namespace}/{review.name}"


class _Query(NamedTuple):
    """What the query says beside the timeout."""

    is_trial: bool
    clusters: int | None


def _query(request: BaseRequest) -> _Query:
    """Raises `HttpProblem`."""
    said = parse_qsl(request.query_string, keep_blank_values=True)
    for name, value in said:
        if name == "dryRun" and value not in _DRY_RUN:
            raise HttpProblem(400, "dryRun", f'the query\'s dryRun: expected true, All or nothing, got "{value:.40}"')
        if name == "clusters" and not (_IS_SHORT_NUMBER(value) and 0 < int(value) <= MOST_CLUSTERS):
            expected = f"a number from 1 to {MOST_CLUSTERS}"
            raise HttpProblem(400, "clusters", f'the query\'s clusters: expected {expected}, got "{value:.40}"')
    given = dict(said)
    return _Query("dryRun" in given, int(given["clusters"]) if "clusters" in given else None)


DESCRIPTION = openapi.operation(
    "Admit or deny a workload or a binding by its namespace's quotas. With dryRun also a List of manifests, each "
    "decided as if those before it that passed had been admitted; quotas in it stand in for those of their names.",
    {"oneOf": [openapi.REVIEW_REQUEST, {"$ref": "#/components/schemas/ManifestList"}]},
    {"oneOf": [openapi.REVIEW_RESPONSE, {"$ref": "#/components/schemas/TrialReport"}]},
    _503="The ledger cannot be reached.",
)
DESCRIPTION["parameters"] += [
    {
        "name": "dryRun",
        "in": "query",
        "description": "Decide, and write nothing, whatever the review itself says.",
        "schema": {"type": "string", "enum": ["true", "All", ""]},
    },
    {
        "name": "clusters",
        "in": "query",
        "description": "With a List: in how many clusters each new workload would be bound, which is decided as well.",
        "schema": {"type": "integer", "minimum": 1, "maximum": MOST_CLUSTERS},
    },
]
SHAPES = (ManifestList, TrialReport)
