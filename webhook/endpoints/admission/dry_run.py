"""POST /admit?dryRun with a List: what admission would say to each manifest, and what quotas would then hold."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Annotated, Final

import msgspec
from msgspec import Meta, Raw

from estimator.accounting.admission.decide import is_binding_kind
from estimator.accounting.admission.dry_run import Manifest, Trial, TrialReport
from estimator.accounting.admission.review import AdmissionRequest, request_to_create
from estimator.accounting.demand import WorkloadKey
from estimator.accounting.sources.quota_files import decode_quota
from estimator.placement.bindings import is_cluster_scoped
from estimator.quotas.objects import QUOTA_KINDS
from interpreters.core.errors import RequestError
from interpreters.core.json_values import decoded, kind_of
from interpreters.core.karmada.api import POLICY_GROUP
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.requirements import Wire
from webhook.endpoints.admission.accounting import Accounting
from webhook.endpoints.admission.reviewed import ANSWER_SECONDS, interpretation_of, seconds_left
from webhook.endpoints.service import Service
from webhook.server.bodies import checked_names
from webhook.server.problems import HttpProblem

MOST_MANIFESTS: Final = 1000
MOST_CLUSTERS: Final = 100
_QUOTA_GROUPS: Final = ("", POLICY_GROUP)


class _Metadata(Wire, frozen=True):
    """What of an object's metadata an API server would take from a manifest, and admission reads."""

    name: str | None = None
    generate_name: str | None = None
    namespace: str | None = None


class _Head(Wire, frozen=True):
    api_version: str | None = None
    kind: str | None = None
    metadata: _Metadata | None = None


class ManifestList(Wire, frozen=True):
    """Manifests in the order in which they would be applied; quotas among them count from the beginning."""

    api_version: str
    kind: str
    items: Annotated[list[Raw], Meta(extra_json_schema={"items": {"type": "object"}, "maxItems": MOST_MANIFESTS})]


class _Kind(msgspec.Struct, frozen=True):
    kind: str | None = None


def is_list(body: bytes) -> bool:
    """Whether a body is a List; what cannot be read is none."""
    return decoded(body, lambda why: RequestError(f"not an AdmissionReview or a List: {why}"), _Kind).kind == "List"


async def tried(
    service: Service, accounting: Accounting, body: bytes, clusters: int | None, deadline: float
) -> TrialReport:
    """Decide about all of them. Raises `InterpError`."""
    await accounting.refuse_unready()
    items = await service.background.run(len(body), deadline, _items, body)
    manifests: list[Manifest] = []
    for place, item in _placed(items):
        manifests.append(await _manifest(service, accounting, place, item, deadline))
        if asyncio.get_running_loop().time() > deadline - ANSWER_SECONDS:
            said = f"{len(manifests)} of {len(items)} manifests were interpreted in the time given"
            raise HttpProblem(503, "timeout", f"{said}; try fewer, or give more time with ?timeout=")
    return await Trial(accounting.gate, manifests, clusters).run(seconds_left(deadline))


def _items(body: bytes) -> list[Raw]:
    given = decoded(body, lambda why: RequestError(f"not a List: {why}"), ManifestList)
    if (given.api_version, given.kind) != ("v1", "List"):
        raise RequestError(f"expected a v1 List, got {given.api_version:.80} {given.kind:.80}")
    if len(given.items) > MOST_MANIFESTS:
        raise RequestError(f"items: expected at most {MOST_MANIFESTS}, got {len(given.items)}; try them in parts")
    return [item.copy() for item in given.items]


def _placed(items: list[Raw]) -> Iterator[tuple[str, bytes]]:
    return ((f"items[{number}]", bytes(item)) for number, item in enumerate(items))


async def _manifest(service: Service, accounting: Accounting, place: str, item: bytes, deadline: float) -> Manifest:
    if item[:1] != b"{":
        raise RequestError(f"{place}: expected an object, got {kind_of(item)}")
    head = decoded(item, lambda why: RequestError(f"{place}: {why}"), _Head)
    if head.kind == "List":
        raise RequestError(f"{place}: a List inside of a List; put its items into the outer one")
    try:
        kind = checked_names(GroupVersionKind.of({"apiVersion": head.api_version, "kind": head.kind}))
        if kind.kind in QUOTA_KINDS and kind.group in _QUOTA_GROUPS:
            quota = decode_quota(place, item)
            return Manifest(str(quota), quota=quota)
        key = _key(kind, head.metadata or _Metadata(), place)
        review = request_to_create(kind, item, key.namespace)
        said = await interpretation_of(service, accounting, review, deadline)
        if said is None and not is_binding_kind(kind):
            return Manifest(str(key))
        return Manifest(str(key), _applied(review, key), said)
    except RequestError as error:
        raise RequestError(f"{place}: {error}") from None


def _key(kind: GroupVersionKind, metadata: _Metadata, place: str) -> WorkloadKey:
    """Two manifests whose names the API server would generate are two objects."""
    name = metadata.name or f"{metadata.generate_name or ''}{place}"
    outside = is_cluster_scoped({"apiVersion": kind.api_version, "kind": kind.kind})
    return WorkloadKey(kind.group, kind.kind, "" if outside else metadata.namespace or "default", name)


def _applied(review: AdmissionRequest, key: WorkloadKey) -> AdmissionRequest:
    """The request as admission would see it: a manifest that was exported still has the uid and times of its source,
    which the API server does not take over."""
    if is_binding_kind(review.kind):
        binding = msgspec.json.decode(review.object, type=dict[str, Raw])
        metadata = msgspec.json.encode({"name": key.name, "namespace": key.namespace})
        return msgspec.structs.replace(review, object=Raw(msgspec.json.encode({**binding, "metadata": Raw(metadata)})))
    named = {"metadata": {"name": key.name, "namespace": key.namespace}}
    return msgspec.structs.replace(review, object=Raw(msgspec.json.encode(named)))
