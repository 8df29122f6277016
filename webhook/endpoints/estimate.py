"""POST /estimate: how many replicas or whole sets fit each cluster, and what stops the next one.

The proposal's second alternative over HTTP: one question that holds a workload, its components, or the requirements of
one replica; one answer that holds `maxReplicas`, and `maxSets` where there are sets.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from aiohttp.web_request import BaseRequest
from aiohttp.web_response import Response
from msgspec import Meta, Raw

from estimator.fit.bounds import check_assumed, check_components, check_requirements
from estimator.fit.model import NO_LIMIT, NO_OPINION, AssumedWorkload, Estimate
from estimator.fit.question import Question, Ways, replicas_question, sets_question
from interpreters.core.decoder_errors import UNREADABLE, misfit
from interpreters.core.errors import QuantityError, RequestError
from interpreters.core.json_values import decoded, kind_of, too_many_values
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.quantity import Quantity
from interpreters.core.replies import tolerated
from interpreters.core.requirements import Component, ComponentRequirements, ReplicaRequirements, Wire
from webhook.endpoints import openapi
from webhook.endpoints.clusters import ClusterAnswer, Clusters
from webhook.endpoints.service import Service
from webhook.endpoints.workloads import interpreted
from webhook.server.bodies import checked_names, received
from webhook.server.listener import Route, json_response

PATH = "/estimate"
_MOST_VALUES = 200_000  # a question within its bounds has fewer; the workload's own are among them
_REQUIRING = ("components", "replicaRequirements", "assumedWorkloads")  # the fields with quantities in them


class EstimateRequest(Wire, frozen=True, forbid_unknown_fields=True):
    """Exactly one of workload, components and replicaRequirements. No cluster named: all."""

    workload: Annotated[Raw, Meta(extra_json_schema={"type": "object"})] = msgspec.field(default_factory=Raw)
    components: list[Component] | None = None
    replica_requirements: ReplicaRequirements | None = None
    clusters: list[str] = []
    cluster: str = ""
    namespace: str = ""
    assumed_workloads: list[AssumedWorkload] = []


class _Metadata(Wire, frozen=True):
    namespace: str | None = None


class _Workload(Wire, frozen=True):
    """As little of the object as is needed to find its script."""

    api_version: str | None = None
    kind: str | None = None
    metadata: _Metadata | None = None


def estimate_routes(service: Service, clusters: Clusters) -> list[Route]:
    async def answer(request: BaseRequest) -> Response:
        async with received(request, service.settings, service.load) as (body, deadline):
            asked = await service.background.run(len(body), deadline, _decoded, body)
            selected = clusters.select([*asked.clusters, *([asked.cluster] if asked.cluster else [])])
            question = await _question(service, asked, deadline)
            size = len(body) - len(asked.workload)
            answers = [await clusters.ask(cluster, question, deadline, size) for cluster in selected]
            return json_response({"estimates": [_worded(one) for one in answers]})

    return [Route("POST", PATH, answer, DESCRIPTION)]


async def _question(service: Service, asked: EstimateRequest, deadline: float) -> Question:
    namespace, components, requirements = asked.namespace, asked.components, asked.replica_requirements
    if bytes(asked.workload):
        if bytes(asked.workload)[:1] != b"{":
            raise RequestError(f"workload: expected an object, got {kind_of(asked.workload)}")
        obj = decoded(asked.workload, lambda why: RequestError(f"workload: {why}"), _Workload)
        kind = checked_names(GroupVersionKind.of({"apiVersion": obj.api_version, "kind": obj.kind}))
        said = await interpreted(service, kind, bytes(asked.workload), deadline)
        namespace = namespace or (obj.metadata and obj.metadata.namespace) or ""
        components, requirements = (list(said.components) if said.components is not None else None), said.requirements
    check_assumed(asked.assumed_workloads)
    for number, workload in enumerate(asked.assumed_workloads):
        _check(workload.components, f"assumedWorkloads[{number}].components")
    if components is not None:
        check_components(components)
        _check(components, "components")
        return sets_question(components, namespace, Ways(asked.assumed_workloads))
    wanted = requirements or ReplicaRequirements()
    check_requirements(wanted)
    _check_amounts(wanted, "replicaRequirements")
    if not wanted.namespace:
        wanted = msgspec.structs.replace(wanted, namespace=namespace)
    return replicas_question(wanted, Ways(asked.assumed_workloads))


def _check(components: list[Component], where: str) -> None:
    """Raise for a quantity or a number that no estimate could be made of, before any thread is bothered."""
    for index, component in enumerate(components):
        at = f"{where}[{index}]"
        if not 0 <= component.replicas <= NO_LIMIT:
            raise RequestError(f"{at}.replicas: expected 0 to {NO_LIMIT}, got {component.replicas}")
        _check_amounts(component.replica_requirements or ComponentRequirements(), f"{at}.replicaRequirements")


def _check_amounts(requirements: ComponentRequirements, where: str) -> None:
    for resource, text in requirements.resource_request.items():
        try:
            Quantity.parse(text)
        except QuantityError as error:
            raise RequestError(f"{where}.resourceRequest[{resource}]: {error}") from None


def _worded(answer: ClusterAnswer) -> dict[str, Any]:
    estimate = answer.estimate
    numbers: dict[str, int] = {}
    if estimate.unit == "sets":
        numbers["maxSets"] = estimate.count
    numbers["maxReplicas"] = estimate.count if estimate.replicas is None else estimate.replicas
    return {
        "cluster": answer.cluster,
        **numbers,
        "reasons": estimate.reasons,
        "stalenessSeconds": answer.staleness_seconds,
        "estimate": estimate,
    }


def _decoded(body: bytes) -> EstimateRequest:
    if too_many_values(body, _MOST_VALUES):
        raise RequestError(f"not a question for {PATH}: more than {_MOST_VALUES} values")
    try:
        try:
            asked = msgspec.json.decode(body, type=EstimateRequest)
        except msgspec.ValidationError:  # perhaps only a null or a number for a quantity, which are fine
            asked = msgspec.json.decode(_with_texts(body), type=EstimateRequest)
    except UNREADABLE as error:
        raise RequestError(f"not a question for {PATH}: {misfit(error)[:500]}") from None
    given = [bool(bytes(asked.workload)), asked.components is not None, asked.replica_requirements is not None]
    if sum(given) != 1:
        raise RequestError("expected exactly one of workload, components and replicaRequirements")
    return asked


def _with_texts(body: bytes) -> bytes:
    """The same question with every quantity as text; the workload, which a script will see, keeps its bytes."""
    fields = msgspec.json.decode(body, type=dict[str, Raw])
    texts = {name: tolerated(msgspec.json.decode(fields[name])) for name in _REQUIRING if name in fields}
    return msgspec.json.encode({**fields, **texts})


_ANSWER = {
    "type": "object",
    "required": ["estimates"],
    "properties": {
        "estimates": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["cluster", "maxReplicas", "reasons", "estimate"],
                "properties": {
                    "cluster": {"type": "string"},
                    "maxSets": {"type": "integer", "minimum": NO_OPINION},
                    "maxReplicas": {"type": "integer", "minimum": NO_OPINION},
                    "reasons": {"type": "array", "items": {"type": "string"}},
                    "stalenessSeconds": {"type": ["number", "null"]},
                    "estimate": {"$ref": "#/components/schemas/Estimate"},
                },
            },
        }
    },
}
DESCRIPTION = openapi.operation(
    "How many replicas or sets of a workload fit each cluster. -1: no opinion, 2147483647: no limit. Quantities may be "
    "numbers, too.",
    {"$ref": "#/components/schemas/EstimateRequest"},
    _ANSWER,
    _404="No script answers for the workload's kind.",
    _422="The script for the workload's kind failed.",
)
SHAPES = (EstimateRequest, Estimate)
