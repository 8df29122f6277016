"""Protobuf requests into the nouns of estimation, whichever generation of the wire they speak.

Karmada up to 1.17 sends typed fields, from 1.19 on `…Bytes` fields with the same Kubernetes protobuf inside, and 1.18
sends both. The newer field wins; they are never added up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, TypeVar

from google.protobuf.message import DecodeError, Message

from estimator.fit.bounds import MOST_ASSUMED, MOST_COMPONENTS, check_count
from estimator.fit.model import AssumedWorkload
from estimator.service.pb import estimator_pb2, kubernetes_pb2, multicomponent_pb2, quantity_pb2
from interpreters.core.errors import InputError, RequestError
from interpreters.core.quantity import Quantity
from interpreters.core.requirements import (
    Component,
    ComponentRequirements,
    NodeClaim,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    ReplicaRequirements,
    ResourceList,
    Toleration,
)

M = TypeVar("M", bound=Message)


class _Requirements(Protocol):
    """Both requirement messages, which differ in field numbers only."""

    @property
    def resourceRequest(self) -> Mapping[str, quantity_pb2.Quantity]: ...

    @property
    def resourceRequestBytes(self) -> Mapping[str, bytes]: ...


def replica_requirements(request: estimator_pb2.MaxAvailableReplicasRequest) -> ReplicaRequirements | None:
    if not request.HasField("replicaRequirements"):
        return None
    return _replica_requirements(request.replicaRequirements, "replicaRequirements")


def components(messages: Sequence[estimator_pb2.Component], where: str = "components") -> list[Component]:
    """The components of a set. Raises `RequestError` with the field path."""
    check_count(len(messages), MOST_COMPONENTS, where, "components")
    return [_component(message, f"{where}[{i}]") for i, message in enumerate(messages)]


def assumed_workloads(messages: Sequence[estimator_pb2.AssumedWorkload]) -> list[AssumedWorkload]:
    check_count(len(messages), MOST_ASSUMED, "assumedWorkloads", "components in all")
    return [
        AssumedWorkload(components(message.components, f"assumedWorkloads[{i}].components"), message.namespace)
        for i, message in enumerate(messages)
    ]


def multi_components(messages: Sequence[multicomponent_pb2.Component]) -> tuple[list[Component], str]:
    """The components of the proposal's service, and the namespace that they agree on."""
    check_count(len(messages), MOST_COMPONENTS, "components", "components")
    found = []
    namespaces: set[str] = set()
    for i, message in enumerate(messages):
        where = f"components[{i}]"
        requirements = None
        if message.HasField("replicaRequirements"):
            requirements = _replica_requirements(message.replicaRequirements, f"{where}.replicaRequirements")
            namespaces |= {requirements.namespace} - {""}
        found.append(Component(message.name, _replicas(message.replicas, where), requirements))
    if len(namespaces) > 1:
        raise RequestError(f"components of one set are in one namespace, got {', '.join(sorted(namespaces))}")
    return found, next(iter(namespaces), "")


def _component(message: estimator_pb2.Component, where: str) -> Component:
    requirements = None
    if message.HasField("replicaRequirements"):
        asked, at = message.replicaRequirements, f"{where}.replicaRequirements"
        requirements = ComponentRequirements(
            node_claim=_node_claim(asked.nodeClaim, at) if asked.HasField("nodeClaim") else None,
            resource_request=_amounts(asked, at),
            priority_class_name=asked.priorityClassName,
        )
    return Component(message.name, _replicas(message.replicas, where), requirements)


def _replica_requirements(message: estimator_pb2.ReplicaRequirements, where: str) -> ReplicaRequirements:
    return ReplicaRequirements(
        node_claim=_node_claim(message.nodeClaim, where) if message.HasField("nodeClaim") else None,
        resource_request=_amounts(message, where),
        priority_class_name=message.priorityClassName,
        namespace=message.namespace,
    )


def _replicas(replicas: int, where: str) -> int:
    if replicas < 0:
        raise RequestError(f"{where}.replicas: expected 0 or more, got {replicas}")
    return replicas


def _amounts(message: _Requirements, where: str) -> ResourceList:
    if message.resourceRequestBytes:
        texts = {
            name: _decoded(quantity_pb2.Quantity(), raw, f"{where}.resourceRequestBytes[{name}]").string
            for name, raw in message.resourceRequestBytes.items()
        }
    else:
        texts = {name: quantity.string for name, quantity in message.resourceRequest.items()}
    for name, text in texts.items():
        texts[name] = text or "0"  # a zero quantity travels as an empty message
        try:
            Quantity.parse(texts[name])
        except InputError as error:
            raise RequestError(f"{where}.resourceRequest[{name}]: {error}") from None
    return dict(sorted(texts.items()))


def _node_claim(message: estimator_pb2.NodeClaim, where: str) -> NodeClaim:
    at = f"{where}.nodeClaim"
    affinity: kubernetes_pb2.NodeSelector | None = None
    if message.HasField("nodeAffinityBytes"):
        affinity = _decoded(kubernetes_pb2.NodeSelector(), message.nodeAffinityBytes, f"{at}.nodeAffinityBytes")
    elif message.HasField("nodeAffinity"):
        affinity = message.nodeAffinity
    tolerations = (
        [
            _decoded(kubernetes_pb2.Toleration(), raw, f"{at}.tolerationsBytes[{i}]")
            for i, raw in enumerate(message.tolerationsBytes)
        ]
        if message.tolerationsBytes
        else message.tolerations
    )
    return NodeClaim(
        hard_node_affinity=_affinity(affinity) if affinity is not None else None,
        node_selector=dict(message.nodeSelector),
        tolerations=[_toleration(each) for each in tolerations],
    )


def _affinity(message: kubernetes_pb2.NodeSelector) -> NodeSelector:
    return NodeSelector(
        [
            NodeSelectorTerm(_requirements(term.matchExpressions), _requirements(term.matchFields))
            for term in message.nodeSelectorTerms
        ]
    )


def _requirements(messages: Iterable[kubernetes_pb2.NodeSelectorRequirement]) -> list[NodeSelectorRequirement]:
    return [NodeSelectorRequirement(each.key, each.operator, list(each.values)) for each in messages]


def _toleration(message: kubernetes_pb2.Toleration) -> Toleration:
    seconds = message.tolerationSeconds if message.HasField("tolerationSeconds") else None
    return Toleration(message.key, message.operator, message.value, message.effect, seconds)


def _decoded(message: M, raw: bytes, where: str) -> M:
    try:
        message.ParseFromString(raw)
    except DecodeError:
        raise RequestError(f"{where}: not the Kubernetes protobuf of a {message.DESCRIPTOR.name}") from None
    return message
