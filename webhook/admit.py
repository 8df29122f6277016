"""POST /admit: AdmissionReviews of workloads and bindings, decided by quota and by whether any cluster fits one set."""

from __future__ import annotations

from aiohttp.web_request import BaseRequest
from aiohttp.web_response import Response
from msgspec import Raw

from estimator.accounting.admission import ClusterFit, Interpretation
from estimator.accounting.review import AdmissionRequest, decode_review, encode_review
from interpreters.core.errors import RequestError, ScriptError
from interpreters.core.json_values import kind_of
from webhook import openapi
from webhook.accounting import Accounting
from webhook.endpoint import checked_names, received
from webhook.listener import Route
from webhook.registration import tells_pods
from webhook.service import Service
from webhook.workloads import interpreted

PATH = "/admit"


def admit_routes(service: Service, accounting: Accounting) -> list[Route]:
    async def answer(request: BaseRequest) -> Response:
        async with received(request, service) as (body, deadline):
            review = decode_review(body)
            said = await _interpretation(service, review, deadline)
            # A ledger that cannot be written is an HTTP error, so that the registered failurePolicy decides.
            verdict = await accounting.gate.decide(review, said)
        service.metrics.admissions.labels("allowed" if verdict.allowed else "denied").inc()
        return Response(body=encode_review(review.uid, verdict), content_type="application/json")

    return [Route("POST", PATH, answer, DESCRIPTION)]


async def _interpretation(service: Service, review: AdmissionRequest, deadline: float) -> Interpretation | None:
    """What the scripts and clusters say; None for a kind that no script knows."""
    metadata = review.metadata
    kind = checked_names(review.kind, review.name, review.namespace, metadata.name, metadata.namespace, metadata.uid)
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
