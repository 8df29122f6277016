"""The committed generated code is what the .proto files say, and field numbers are those that Karmada sends."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest
from google.protobuf import descriptor_pb2
from grpc_tools import protoc

from estimator.service.pb import estimator_pb2 as pb

PROTOS = sorted((Path(__file__).parents[3] / "estimator" / "pb").glob("*.proto"))
ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("proto", PROTOS, ids=lambda path: path.name)
def test_generating_again_gives_the_same_descriptors(proto: Path, tmp_path: Path) -> None:
    out = tmp_path / "described"
    name = proto.relative_to(ROOT).as_posix()
    assert protoc.main(["protoc", f"-I{ROOT}", f"--descriptor_set_out={out}", name]) == 0
    (described,) = descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes()).file
    committed = descriptor_pb2.FileDescriptorProto()
    import_module(f"estimator.service.pb.{proto.stem}_pb2").DESCRIPTOR.CopyToProto(committed)
    for file in (described, committed):
        file.ClearField("source_code_info")
        for message in file.message_type:
            for field in message.field:
                field.ClearField("json_name")  # filled in by some versions of the generator only
            for nested in message.nested_type:
                for field in nested.field:
                    field.ClearField("json_name")
    assert described == committed


NUMBERS = {
    "MaxAvailableReplicasRequest": {"cluster": 1, "replicaRequirements": 2, "assumedWorkloads": 3},
    "MaxAvailableReplicasResponse": {"maxReplicas": 1},
    "MaxAvailableComponentSetsRequest": {"cluster": 1, "components": 2, "namespace": 3, "assumedWorkloads": 4},
    "MaxAvailableComponentSetsResponse": {"maxSets": 1},
    "Component": {"name": 1, "replicaRequirements": 2, "replicas": 3},
    "AssumedWorkload": {"namespace": 1, "components": 2},
    "ReplicaRequirements": {
        "nodeClaim": 1,
        "resourceRequest": 2,
        "namespace": 3,
        "priorityClassName": 4,
        "resourceRequestBytes": 5,
    },
    "ComponentReplicaRequirements": {
        "nodeClaim": 1,
        "resourceRequest": 2,
        "priorityClassName": 3,
        "resourceRequestBytes": 4,
    },
    "NodeClaim": {
        "nodeAffinity": 1,
        "nodeSelector": 2,
        "tolerations": 3,
        "nodeAffinityBytes": 4,
        "tolerationsBytes": 5,
    },
    "UnschedulableReplicasRequest": {"cluster": 1, "resource": 2, "unschedulableThreshold": 3},
    "UnschedulableReplicasResponse": {"unschedulableReplicas": 1},
    "ObjectReference": {"apiVersion": 1, "kind": 2, "namespace": 3, "name": 4},
}


def test_field_numbers_are_those_that_karmada_sends() -> None:
    described = {
        name: {field.name: field.number for field in message.fields}
        for name, message in pb.DESCRIPTOR.message_types_by_name.items()
    }
    assert described == NUMBERS
