"""What the scripts and the clusters say about the object of a review, for /admit."""

from __future__ import annotations

import asyncio

from msgspec import Raw

from estimator.accounting.admission.decide import ClusterFit, Interpretation, decode_reviewed, is_binding_kind
from estimator.accounting.admission.review import AdmissionRequest
from interpreters.core.errors import RequestError, ScriptError
from interpreters.core.json_values import kind_of
from webhook.endpoints.admission.accounting import Accounting
from webhook.endpoints.admission.objects import bound_kind
from webhook.endpoints.service import Service
from webhook.endpoints.workloads import interpreted
from webhook.registration.plan import tells_pods
from webhook.server.bodies import checked_names

ANSWER_SECONDS = 0.05


def seconds_left(deadline: float) -> float:
    """Seconds until then, a little less: the answer has to travel."""
    return max(0.05, deadline - asyncio.get_running_loop().time() - ANSWER_SECONDS)


async def interpretation_of(
    service: Service, accounting: Accounting, review: AdmissionRequest, deadline: float
) -> Interpretation | None:
    """What the scripts and clusters say; None for a kind that no script knows."""
    metadata = review.metadata
    names = [review.name, review.namespace, metadata.name, metadata.namespace, metadata.uid, metadata.generate_name]
    kind = checked_names(review.kind, *names, *(review.owner or ()))
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
    except (ScriptError, RequestError) as error:
        return Interpretation(problem=str(error))  # it could cost anything
    try:
        old = await interpreted(service, kind, old_object, deadline) if old_object else None
    except (ScriptError, RequestError):
        old = None  # what mends a broken object must not fail by it; the ledger knows what is charged
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
    checked_names(bound_kind(binding), *binding.workload, binding.spec.resource.uid)
    if binding.spec.parts or not tells_pods(service.catalog, bound_kind(binding)):
        return None
    known = Interpretation(tells_pods=True)
    if accounting.reconciler is None or await accounting.knows_pods(binding.workload, seconds_left(deadline)):
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
