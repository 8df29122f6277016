"""Requests in both generations of the wire."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from estimator.service.pb import estimator_pb2 as pb
from estimator.service.pb import kubernetes_pb2 as k8s
from estimator.service.pb import quantity_pb2

OLD: Final = "old"
NEW: Final = "new"
BOTH: Final = "both"
GENERATIONS: Final = (OLD, NEW, BOTH)


def amounts(generation: str, request: Mapping[str, str]) -> dict[str, Any]:
    """The fields of a resource request. A peer that sends both sends the same amounts twice."""
    typed = {name: quantity_pb2.Quantity(string=text) for name, text in request.items()}
    packed = {name: quantity.SerializeToString() for name, quantity in typed.items()}
    fields: dict[str, Any] = {}
    if generation in (OLD, BOTH):
        fields["resourceRequest"] = typed
    if generation in (NEW, BOTH):
        fields["resourceRequestBytes"] = packed
    return fields


def claim(
    generation: str,
    affinity: k8s.NodeSelector | None = None,
    tolerations: Sequence[k8s.Toleration] = (),
    selector: Mapping[str, str] | None = None,
) -> pb.NodeClaim:
    message = pb.NodeClaim(nodeSelector=selector or {})
    if generation in (OLD, BOTH):
        if affinity is not None:
            message.nodeAffinity.CopyFrom(affinity)
        message.tolerations.extend(tolerations)
    if generation in (NEW, BOTH):
        if affinity is not None:
            message.nodeAffinityBytes = affinity.SerializeToString()
        message.tolerationsBytes.extend(each.SerializeToString() for each in tolerations)
    return message


def component(
    generation: str, name: str, replicas: int, request: Mapping[str, str], node_claim: pb.NodeClaim | None = None
) -> pb.Component:
    requirements = pb.ComponentReplicaRequirements(**amounts(generation, request))
    if node_claim is not None:
        requirements.nodeClaim.CopyFrom(node_claim)
    return pb.Component(name=name, replicas=replicas, replicaRequirements=requirements)


def replicas_request(
    cluster: str, request: Mapping[str, str], generation: str = NEW, namespace: str = "default"
) -> pb.MaxAvailableReplicasRequest:
    requirements = pb.ReplicaRequirements(namespace=namespace, **amounts(generation, request))
    return pb.MaxAvailableReplicasRequest(cluster=cluster, replicaRequirements=requirements)


def sets_request(
    cluster: str, *components: pb.Component, namespace: str = "default", assumed: Sequence[pb.AssumedWorkload] = ()
) -> pb.MaxAvailableComponentSetsRequest:
    return pb.MaxAvailableComponentSetsRequest(
        cluster=cluster, components=components, namespace=namespace, assumedWorkloads=assumed
    )
