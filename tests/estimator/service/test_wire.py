"""Both generations of the wire mean the same, and what cannot be read is refused with its place."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimator.service import wire
from estimator.service.pb import estimator_pb2 as pb
from estimator.service.pb import kubernetes_pb2 as k8s
from estimator.service.pb import multicomponent_pb2 as multi
from estimator.service.pb import quantity_pb2
from interpreters.core.errors import RequestError
from interpreters.core.requirements import (
    Component,
    ComponentRequirements,
    NodeClaim,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Toleration,
)
from tests.estimator.service.messages import BOTH, GENERATIONS, NEW, OLD, amounts, claim, component, replicas_request

AFFINITY = k8s.NodeSelector(
    nodeSelectorTerms=[
        k8s.NodeSelectorTerm(
            matchExpressions=[k8s.NodeSelectorRequirement(key="disk", operator="In", values=["ssd", "nvme"])],
            matchFields=[k8s.NodeSelectorRequirement(key="metadata.name", operator="NotIn", values=["n1"])],
        )
    ]
)
TOLERATIONS = [
    k8s.Toleration(key="dedicated", operator="Equal", value="flink", effect="NoSchedule"),
    k8s.Toleration(operator="Exists", tolerationSeconds=0),
]


@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_component_means_the_same_in_every_generation(generation: str) -> None:
    asked = claim(generation, AFFINITY, TOLERATIONS, {"os": "linux"})
    message = component(generation, "worker", 4, {"cpu": "1500m", "memory": "4Gi"}, asked)
    assert wire.components([message]) == [
        Component(
            "worker",
            4,
            ComponentRequirements(
                NodeClaim(
                    NodeSelector(
                        [
                            NodeSelectorTerm(
                                [NodeSelectorRequirement("disk", "In", ["ssd", "nvme"])],
                                [NodeSelectorRequirement("metadata.name", "NotIn", ["n1"])],
                            )
                        ]
                    ),
                    {"os": "linux"},
                    [Toleration("dedicated", "Equal", "flink", "NoSchedule"), Toleration("", "Exists", "", "", 0)],
                ),
                {"cpu": "1500m", "memory": "4Gi"},
            ),
        )
    ]


def test_the_newer_field_wins_when_both_are_there_and_they_disagree() -> None:
    requirements = pb.ReplicaRequirements(**amounts(OLD, {"cpu": "7", "memory": "1Gi"}))
    requirements.resourceRequestBytes["cpu"] = quantity_pb2.Quantity(string="2").SerializeToString()
    requirements.nodeClaim.CopyFrom(claim(OLD, AFFINITY, TOLERATIONS))
    requirements.nodeClaim.nodeAffinityBytes = k8s.NodeSelector().SerializeToString()
    requirements.nodeClaim.tolerationsBytes.append(k8s.Toleration(key="new").SerializeToString())
    found = wire.replica_requirements(pb.MaxAvailableReplicasRequest(replicaRequirements=requirements))
    assert found is not None and found.node_claim is not None
    assert found.resource_request == {"cpu": "2"}
    assert found.node_claim.hard_node_affinity == NodeSelector([])
    assert found.node_claim.tolerations == [Toleration("new")]


def test_what_is_absent_stays_absent() -> None:
    assert wire.replica_requirements(pb.MaxAvailableReplicasRequest(cluster="member1")) is None
    assert wire.components([pb.Component(name="ps")]) == [Component("ps", 0)]
    without_claim = wire.components([component(NEW, "ps", 1, {"cpu": "1"})])[0].replica_requirements
    assert without_claim is not None and without_claim.node_claim is None


def test_a_zero_quantity_travels_as_an_empty_message() -> None:
    found = wire.replica_requirements(replicas_request("member1", {"cpu": ""}))
    assert found is not None and found.resource_request == {"cpu": "0"}


BROKEN = [
    (
        pb.Component(replicaRequirements={"resourceRequestBytes": {"cpu": b"\xff\xff"}}),
        "components[0].replicaRequirements.resourceRequestBytes[cpu]: not the Kubernetes protobuf of a Quantity",
    ),
    (
        pb.Component(replicaRequirements=pb.ComponentReplicaRequirements(**amounts(OLD, {"cpu": "lots"}))),
        'components[0].replicaRequirements.resourceRequest[cpu]: "lots" is not a quantity',
    ),
    (
        pb.Component(replicaRequirements={"nodeClaim": {"nodeAffinityBytes": b"\x0a\x05"}}),
        "components[0].replicaRequirements.nodeClaim.nodeAffinityBytes: not the Kubernetes protobuf of a NodeSelector",
    ),
    (
        pb.Component(replicaRequirements={"nodeClaim": {"tolerationsBytes": [b"", b"\x0a"]}}),
        "components[0].replicaRequirements.nodeClaim.tolerationsBytes[1]: not the Kubernetes protobuf of a Toleration",
    ),
    (pb.Component(replicas=-1), "components[0].replicas: expected 0 or more, got -1"),
]


@pytest.mark.parametrize(("message", "problem"), BROKEN)
def test_what_cannot_be_read_is_refused_with_its_place(message: pb.Component, problem: str) -> None:
    with pytest.raises(RequestError) as refused:
        wire.components([message])
    assert str(refused.value).startswith(problem)


def test_components_of_the_proposal_carry_their_namespace() -> None:
    def member(namespace: str) -> multi.Component:
        return multi.Component(name="a", replicas=1, replicaRequirements=pb.ReplicaRequirements(namespace=namespace))

    assert wire.multi_components([member(""), member("team-a"), multi.Component(name="b")])[1] == "team-a"
    with pytest.raises(RequestError, match="one namespace, got team-a, team-b"):
        wire.multi_components([member("team-a"), member("team-b")])


texts = st.text(st.characters(codec="utf-8"), max_size=8)
requirements = st.builds(
    lambda key, operator, values: k8s.NodeSelectorRequirement(key=key, operator=operator, values=values),
    texts,
    st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]),
    st.lists(texts, max_size=3),
)
affinities = st.builds(
    lambda terms: k8s.NodeSelector(
        nodeSelectorTerms=[k8s.NodeSelectorTerm(matchExpressions=left, matchFields=right) for left, right in terms]
    ),
    st.lists(st.tuples(st.lists(requirements, max_size=2), st.lists(requirements, max_size=2)), max_size=3),
)
tolerations = st.lists(
    st.builds(
        lambda key, value, seconds: k8s.Toleration(key=key, value=value, tolerationSeconds=seconds),
        texts,
        texts,
        st.none() | st.integers(-(2**63), 2**63 - 1),
    ),
    max_size=3,
)
quantities = st.dictionaries(texts, st.sampled_from(["1", "250m", "4Gi", "1e3", "0", ""]), max_size=3)


@settings(max_examples=200, deadline=None)
@given(affinities, tolerations, quantities, st.dictionaries(texts, texts, max_size=2))
def test_all_generations_agree_on_random_requests(
    affinity: k8s.NodeSelector, tolerations: list[k8s.Toleration], request: dict[str, str], selector: dict[str, str]
) -> None:
    read = [
        wire.components([component(each, "c", 2, request, claim(each, affinity, tolerations, selector))])
        for each in (OLD, NEW, BOTH)
    ]
    assert read[0] == read[1] == read[2]
