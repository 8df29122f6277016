"""POST /admit: AdmissionReviews of workloads and bindings, decided by quota and by whether any cluster fits one set."""

from __future__ import annotations

import asyncio
import time
from urllib.parse import parse_qsl

import msgspec
from aiohttp.web_request import BaseRequest
from aiohttp.web_response import Response
from msgspec import Raw

from estimator.accounting.admission import ClusterFit, Interpretation, decode_reviewed, is_binding_kind
from estimator.accounting.database import LedgerError
from estimator.accounting.review import AdmissionRequest, Verdict, decode_review, encode_review
from interpreters.core.errors import InterpError, RequestError, ScriptError
from interpreters.core.json_values import kind_of
from webhook import openapi
from webhook.accounting import Accounting, Unready
from webhook.bodies import HttpProblem
from webhook.endpoint import checked_names, received
from webhook.listener import Route
from webhook.logs import LOGGER
from webhook.objects import bound_kind
from webhook.registration.plan import tells_pods
from webhook.service import Service
from webhook.workloads import interpreted

PATH = "/admit"
_ANSWER_SECONDS = 0.05
_DRY_RUN = ("", "true", "All")  # the last is Kubernetes' own word


def admit_routes(service: Service, accounting: Accounting) -> list[Route]:
    async def answer(request: BaseRequest) -> Response:
        started, outcome = time.monotonic(), "failed"
        try:
            response, outcome = await decided(request)
        finally:
            service.metrics.admission_seconds.labels(outcome).observe(time.monotonic() - started)
        return response

    async def decided(request: BaseRequest) -> tuple[Response, str]:
        async with received(request, service) as (body, deadline):
            review = _tried(request, decode_review(body))
            try:
                # A ledger that cannot be written is an HTTP error, so that the registered failurePolicy decides.
                async with asyncio.timeout_at(deadline):
                    verdict = await decide(review, deadline)
            except (InterpError, TimeoutError) as error:
                if isinstance(error, RequestError):
                    raise
                raise failed(review, error) from error
        accounting.state.note(None)
        outcome = "allowed" if verdict.allowed else "denied"
        service.metrics.admissions.labels(outcome).inc()
        return Response(body=encode_review(review.uid, verdict), content_type="application/json"), outcome

    async def decide(review: AdmissionRequest, deadline: float) -> Verdict:
        await accounting.refuse_unready()
        said = await _interpretation(service, accounting, review, deadline)
        return await accounting.gate.decide(review, said, _left(deadline))

    def failed(review: AdmissionRequest, error: Exception) -> HttpProblem:
        """Log and count it: an admission that nobody decided must not pass in silence."""
        reason = str(error) or "no answer within the caller's timeout"
        cause = "other"
        if isinstance(error, LedgerError | TimeoutError):
            cause = "ledger" if isinstance(error, LedgerError) else "timeout"
            if not isinstance(error, Unready):
                accounting.state.note(reason)
        service.metrics.admission_failures.labels(cause).inc()
        LOGGER.error(
            "an admission was not decided",
            extra={"reason": reason, "request": review.uid, "operation": review.operation,
                   "workload": str(review.workload)},
        )  # fmt: skip
        return HttpProblem(error.code if isinstance(error, InterpError) else 503, cause, reason)

    return [Route("POST", PATH, answer, DESCRIPTION)]


def _tried(request: BaseRequest, review: AdmissionRequest) -> AdmissionRequest:
    """The review as a trial if the query says `dryRun`, whatever the review itself says. Raises `HttpProblem`."""
    said = [value for name, value in parse_qsl(request.query_string, keep_blank_values=True) if name == "dryRun"]
    for value in said:
        if value not in _DRY_RUN:
            raise HttpProblem(400, "dryRun", f'the query\'s dryRun: expected true, All or nothing, got "{value:.40}"')
    return msgspec.structs.replace(review, dry_run=True) if said else review


def _left(deadline: float) -> float:
    """Seconds until then, a little less: the answer has to travel."""
    return max(0.05, deadline - asyncio.get_running_loop().time() - _ANSWER_SECONDS)


async def _interpretation(
    service: Service, accounting: Accounting, review: AdmissionRequest, deadline: float
) -> Interpretation | None:
    """What the scripts and clusters say; None for a kind that no script knows."""
    metadata = review.metadata
    kind = checked_names(review.kind, review.name, review.namespace, metadata.name, metadata.namespace, metadata.uid)
    if is_binding_kind(kind):
        return await _of_binding(service, accounting, review, deadline)
    if not tells_pods(service.catalog, kind):
        return None
    if review.operation == "DELETE":
        return Interpretation()
    new_object = _object("object", review.object)
    old_object = _object("oldObject", review.old_object) if review.operation == "UPDATE" else None
    try:
        new = await interpreted(service, kind, new_object, deadline)
        old = await interpreted(service, kind, old_object, deadline) if old_object else None
    except ScriptError as error:
        return Interpretation(problem=str(error))
    if service.clusters is None or not new.as_components:
        return Interpretation(new, old)
    fits = await service.clusters.fits(new.as_components, review.workload.namespace, deadline)
    return Interpretation(new, old, fits=[ClusterFit(*fit) for fit in fits])


async def _of_binding(
    service: Service, accounting: Accounting, review: AdmissionRequest, deadline: float
) -> Interpretation | None:
    """What the scripts say about the object of a binding that says no pods, unless the ledger knows it already."""
    if review.operation == "DELETE" or review.sub_resource:
        return None
    binding = decode_reviewed(review, review.object)
    if binding.spec.parts or not tells_pods(service.catalog, checked_names(bound_kind(binding))):
        return None
    known = Interpretation(tells_pods=True)
    if accounting.reconciler is None or await accounting.knows_pods(binding.workload, _left(deadline)):
        return known
    try:
        said = await accounting.reconciler.demands.of_binding(binding, deadline)
    except ScriptError as error:
        return Interpretation(problem=str(error))
    return known if said is None else Interpretation(said, tells_pods=True)


def _object(field: str, raw: Raw) -> bytes:
    text = bytes(raw)
    if text[:1] != b"{":
        raise RequestError(f"request.{field}: expected an object, got {kind_of(text)}")
    return text


DESCRIPTION = openapi.operation(
    "Admit or deny a workload or a binding by its namespace's quotas.",
    openapi.REVIEW_REQUEST,
    openapi.REVIEW_RESPONSE,
    _503="The ledger cannot be reached.",
)
DESCRIPTION["parameters"].append(
    {
        "name": "dryRun",
        "in": "query",
        "description": "Decide, and write nothing, whatever the review itself says.",
        "schema": {"type": "string", "enum": ["true", "All", ""]},
    }
)
