"""Asking an estimator over gRPC, as karmada-scheduler does: in plain text, within seconds, in both wire generations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import grpc
import msgspec

from estimator.fit.model import AssumedWorkload
from estimator.service.pb import estimator_pb2, kubernetes_pb2, quantity_pb2, service_pb2_grpc
from interpreters.core.errors import InputError
from interpreters.core.requirements import Component, ComponentRequirements, NodeClaim, ReplicaRequirements

SECONDS: Final = 3.0  # what the scheduler gives an estimator


def ask_replicas(
    address: str,
    cluster: str,
    needs: ReplicaRequirements,
    *,
    about: str,
    assumed: Sequence[AssumedWorkload] = (),
    seconds: float = SECONDS,
) -> int:
    """How many such pods the cluster takes; -1 is no opinion. Raises `InputError` when nobody answers."""
    fields = _requirements(needs)
    request = estimator_pb2.MaxAvailableReplicasRequest(
        cluster=cluster,
        replicaRequirements=estimator_pb2.ReplicaRequirements(namespace=needs.namespace, **fields),
        assumedWorkloads=[_assumed(one) for one in assumed],
    )
    return int(_call(address, "MaxAvailableReplicas", request, about, seconds).maxReplicas)


def ask_sets(
    address: str,
    cluster: str,
    components: Sequence[Component],
    namespace: str,
    *,
    about: str,
    assumed: Sequence[AssumedWorkload] = (),
    seconds: float = SECONDS,
) -> int:
    """How many sets of the components it takes; -1 is no opinion. Raises `InputError` when nobody answers."""
    request = estimator_pb2.MaxAvailableComponentSetsRequest(
        cluster=cluster, components=[_component(one) for one in components], namespace=namespace,
        assumedWorkloads=[_assumed(one) for one in assumed],
    )  # fmt: skip
    return int(_call(address, "MaxAvailableComponentSets", request, about, seconds).maxSets)


def _call(address: str, method: str, request: Any, about: str, seconds: float) -> Any:
    with grpc.insecure_channel(address) as channel:
        stub = service_pb2_grpc.EstimatorStub(channel)
        try:
            return getattr(stub, method)(request, timeout=seconds, metadata=(("object", about),))
        except grpc.RpcError as error:
            raise InputError(f"the estimator at {address} did not answer: {error.code().name}") from None


def _assumed(workload: AssumedWorkload) -> estimator_pb2.AssumedWorkload:
    parts = [_component(one) for one in workload.components]
    return estimator_pb2.AssumedWorkload(namespace=workload.namespace, components=parts)


def _component(component: Component) -> estimator_pb2.Component:
    message = estimator_pb2.Component(name=component.name, replicas=component.replicas)
    if component.replica_requirements is not None:
        fields = _requirements(component.replica_requirements)
        message.replicaRequirements.CopyFrom(estimator_pb2.ComponentReplicaRequirements(**fields))
    return message


def _requirements(needs: ComponentRequirements) -> Mapping[str, Any]:
    """The fields that both requirement messages have; older peers read the typed ones, newer ones the bytes."""
    typed = {name: quantity_pb2.Quantity(string=text) for name, text in needs.resource_request.items()}
    fields: dict[str, Any] = {
        "resourceRequest": typed,
        "resourceRequestBytes": {name: amount.SerializeToString() for name, amount in typed.items()},
        "priorityClassName": needs.priority_class_name,
    }
    if needs.node_claim is not None:
        fields["nodeClaim"] = _node_claim(needs.node_claim)
    return fields


def _node_claim(claim: NodeClaim) -> estimator_pb2.NodeClaim:
    message = estimator_pb2.NodeClaim(nodeSelector=claim.node_selector)
    if claim.hard_node_affinity is not None:
        affinity = kubernetes_pb2.NodeSelector(**msgspec.to_builtins(claim.hard_node_affinity))
        message.nodeAffinity.CopyFrom(affinity)
        message.nodeAffinityBytes = affinity.SerializeToString()
    for one in claim.tolerations:
        toleration = kubernetes_pb2.Toleration(**msgspec.to_builtins(one))
        message.tolerations.append(toleration)
        message.tolerationsBytes.append(toleration.SerializeToString())
    return message
