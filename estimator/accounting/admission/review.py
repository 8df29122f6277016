"""The AdmissionReview envelope (`admission.k8s.io/v1`): what the API server asks, and the answer it expects."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Final

import msgspec
from msgspec import Meta, Raw, Struct

from estimator.accounting.demand import WorkloadKey
from interpreters.core.errors import RequestError
from interpreters.core.json_values import decoded
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.wire import LONGEST_UID

API: Final = "admission.k8s.io/v1"
QUOTA_EXCEEDED: Final = "QuotaExceeded"
_LONGEST_WARNING: Final = 256  # the API server cuts what is longer


Generation = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
"""As large as Kubernetes and a database have it."""


class OwnerReference(Struct, frozen=True, rename="camel"):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    controller: bool = False


class ObjectMetadata(Struct, frozen=True, rename="camel"):
    name: str = ""
    namespace: str = ""
    generate_name: str = ""
    uid: str = ""
    generation: Generation = 0
    resource_version: str = ""
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    owner_references: list[OwnerReference] | None = None


class _Object(Struct, frozen=True):
    metadata: ObjectMetadata = ObjectMetadata()


class KindInRequest(Struct, frozen=True):
    version: str
    kind: str
    group: str = ""


class ResourceInRequest(Struct, frozen=True):
    version: str = ""
    resource: str = ""
    group: str = ""


class _User(Struct, frozen=True):
    username: str = ""


class AdmissionRequest(Struct, frozen=True, rename="camel", dict=True):
    """What the API server asks. `object` and `old_object` stay raw JSON: the interpreter reads them itself."""

    uid: str
    operation: str
    requested: KindInRequest = msgspec.field(name="kind")
    resource: ResourceInRequest = ResourceInRequest()
    sub_resource: str = ""
    name: str = ""
    namespace: str = ""
    user_info: _User = _User()
    object: Raw = Raw()
    old_object: Raw = Raw()
    dry_run: bool | None = None

    @property
    def kind(self) -> GroupVersionKind:
        return GroupVersionKind(self.requested.group, self.requested.version, self.requested.kind)

    @cached_property
    def metadata(self) -> ObjectMetadata:
        """Of the object as it will be; of the old one when it is deleted."""
        raw = self.object if _holds(self.object) else self.old_object
        if not _holds(raw):
            return ObjectMetadata(name=self.name, namespace=self.namespace)
        return decoded(raw, lambda why: RequestError(f"request.object: {why}"), _Object, most=len(raw)).metadata

    @cached_property
    def workload(self) -> WorkloadKey:
        metadata = self.metadata
        # A generated name may still be missing; until the object is seen under its own, the request's uid stands in.
        name = metadata.name or self.name or f"{metadata.generate_name}{self.uid}"
        return WorkloadKey(self.kind.group, self.kind.kind, metadata.namespace or self.namespace, name)

    @property
    def owner(self) -> WorkloadKey | None:
        """The controller that made the object."""
        for reference in self.metadata.owner_references or ():
            if reference.controller:
                group = GroupVersionKind.parse(reference.api_version, reference.kind).group
                return WorkloadKey(group, reference.kind, self.workload.namespace, reference.name)
        return None


class Verdict(Struct, frozen=True):
    """The answer: allowed or not, why not, and what kubectl prints beside it."""

    allowed: bool
    message: str = ""
    warnings: tuple[str, ...] = ()
    code: int = 403
    reason: str = "Forbidden"
    """In Kubernetes' words. karmada-scheduler takes QuotaExceeded, and nothing else, for a full quota."""


class _Review(Struct, frozen=True, rename="camel"):
    request: AdmissionRequest | None = None
    api_version: str = API
    kind: str = "AdmissionReview"


def request_to_create(kind: GroupVersionKind, obj: bytes, namespace: str) -> AdmissionRequest:
    """What the API server would ask if an object, given as JSON, were created. No uid: such a request is never sent."""
    named = KindInRequest(kind.version, kind.kind, kind.group)
    return AdmissionRequest("", "CREATE", named, namespace=namespace, object=Raw(obj), dry_run=True)


def decode_review(body: bytes) -> AdmissionRequest:
    """Read the API server's body. Raises `RequestError`.

    The values of the objects in it are not counted here, where none is made: what holds too many cannot be interpreted,
    and that is a decision about it."""
    review = decoded(body, lambda why: RequestError(f"not an AdmissionReview: {why}"), _Review, most=len(body))
    if (review.api_version, review.kind) != (API, "AdmissionReview"):
        hint = "; add ?dryRun to the path to try a List" if review.kind == "List" else ""
        raise RequestError(f"expected {API} AdmissionReview, got {review.api_version:.80} {review.kind:.80}{hint}")
    if review.request is None:
        raise RequestError("request: missing; an AdmissionReview without a request asks nothing")
    if len(review.request.uid) > LONGEST_UID:
        raise RequestError(f"request.uid: expected at most {LONGEST_UID} characters, got {len(review.request.uid)}")
    return review.request


def encode_review(uid: str, verdict: Verdict) -> bytes:
    """The body to answer with."""
    response: dict[str, object] = {"uid": uid, "allowed": verdict.allowed}
    if not verdict.allowed:
        response["status"] = {"code": verdict.code, "reason": verdict.reason, "message": verdict.message}
    if verdict.warnings:
        response["warnings"] = [_short(warning) for warning in verdict.warnings]
    return msgspec.json.encode({"apiVersion": API, "kind": "AdmissionReview", "response": response})


def _holds(raw: Raw) -> bool:
    return bytes(raw) not in (b"", b"null")


def _short(warning: str) -> str:
    return warning if len(warning) <= _LONGEST_WARNING else warning[: _LONGEST_WARNING - 1] + "…"
