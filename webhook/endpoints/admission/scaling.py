"""Scaling past the object: a request for the scale subresource says a number, and not of which pods.

Of a kind that is divided, Karmada writes each member's share from the binding, and that is weighed. What goes whole is
sent as it stands whenever Karmada has a reason to, whether or not its binding was refused; so growth by the subresource
cannot be let pass where a quota holds.
"""

from __future__ import annotations

import msgspec
from msgspec import Raw, Struct

from estimator.accounting.admission.decide import Interpretation
from estimator.accounting.admission.review import AdmissionRequest, KindInRequest
from interpreters.catalog import Catalog
from interpreters.core.division import Division
from interpreters.core.errors import InputError, RequestError
from interpreters.core.json_values import decoded
from interpreters.core.karmada.answers import is_native
from interpreters.core.kinds import GroupVersionKind, plural_of
from interpreters.headers import division_of
from webhook.registration.admission import SCALE
from webhook.registration.plan import tells_pods
from webhook.registration.rules import COUNTING


def goes_whole(catalog: Catalog, kind: GroupVersionKind) -> bool:
    """Whether objects of the kind are sent to members as they are, or nobody has said that they are not."""
    if is_native(kind) or not tells_pods(catalog, kind):
        return False
    offers = [offer for operation in COUNTING for offer in catalog.find(kind, operation)]
    try:
        return all(division_of(offer.candidate.header) in (None, Division.WHOLE) for offer in offers)
    except InputError:
        return True  # it says two things


def grown_whole(catalog: Catalog, review: AdmissionRequest) -> tuple[AdmissionRequest, Interpretation] | None:
    """The request as one about the workload, and why it cannot be weighed; None if it need not be.

    Raises `RequestError` for what is no Scale."""
    if review.sub_resource != SCALE or review.operation != "UPDATE":
        return None
    asked = review.resource
    kind = next(
        (kind for kind in catalog.kinds if (kind.group, plural_of(kind.kind)) == (asked.group, asked.resource)), None
    )
    if kind is None or not goes_whole(catalog, kind):
        return None
    before, after = _replicas("oldObject", review.old_object), _replicas("object", review.object)
    if after <= before:
        return None
    problem = (
        f"scaled from {before} to {after} by its scale subresource, which does not say of what, so that no quota can "
        "tell the cost; change the number in the object itself"
    )
    requested = KindInRequest(kind.version, kind.kind, kind.group)
    return msgspec.structs.replace(review, requested=requested, sub_resource=""), Interpretation(problem=problem)


class _Spec(Struct, frozen=True):
    replicas: int = 0


class _Scale(Struct, frozen=True):
    spec: _Spec = _Spec()


def _replicas(field: str, raw: Raw) -> int:
    return decoded(raw, lambda why: RequestError(f"request.{field}: {why}"), _Scale, most=len(raw)).spec.replicas
