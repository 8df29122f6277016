"""Requests as karmada-scheduler 1.19 encodes them, in which only the byte fields are left, are answered over gRPC.

The bytes were encoded by Karmada's own estimator.proto after the typed fields were removed from it.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.message import Message

from estimator.service.pb import estimator_pb2 as pb
from tests.estimator.clusters.objects import node
from tests.estimator.service.serving import mirror, serving

RECORDINGS = Path(__file__).parents[2] / "recordings"
ENCODED = json.loads((RECORDINGS / "estimator-requests-1.19.json").read_text())
SEEN = json.loads((RECORDINGS / "estimator-requests.json").read_text())
MESSAGES = {
    "MaxAvailableReplicas": (pb.MaxAvailableReplicasRequest, pb.MaxAvailableReplicasResponse),
    "MaxAvailableComponentSets": (pb.MaxAvailableComponentSetsRequest, pb.MaxAvailableComponentSetsResponse),
    "GetUnschedulableReplicas": (pb.UnschedulableReplicasRequest, pb.UnschedulableReplicasResponse),
}
REMOVED = {"nodeAffinity", "tolerations", "resourceRequest"}
RESERVED = {"labels": {"disk": "ssd", "os": "linux"},
            "taints": [{"key": "dedicated", "value": "batch", "effect": "NoSchedule"}]}  # fmt: skip
NODES = [node("a", **RESERVED), node("b", **RESERVED), node("plain")]


def method_of(recorded: dict[str, Any]) -> str:
    return str(recorded["method"]).rpartition("/")[2]


def fields_of(message: Message) -> set[str]:
    """The names of all fields that are set, at any depth."""
    names = set()
    for field, value in message.ListFields():
        names.add(field.name)
        several = value.values() if hasattr(value, "values") else value if hasattr(value, "__iter__") else [value]
        for item in several if not isinstance(value, str | bytes) else ():
            names |= fields_of(item) if isinstance(item, Message) else set()
    return names


@pytest.mark.parametrize("recorded", [*ENCODED, *SEEN], ids=lambda one: one["scenario"][:40])
def test_none_of_the_removed_fields_is_on_the_wire(recorded: dict[str, Any]) -> None:
    kind, _ = MESSAGES[method_of(recorded)]
    message = kind.FromString(base64.b64decode(recorded["requestBase64"]))
    assert not fields_of(message) & REMOVED
    assert message.SerializeToString() and message.cluster


@pytest.mark.parametrize("recorded", ENCODED, ids=lambda one: one["scenario"])
async def test_the_bytes_are_answered(tmp_path: Path, recorded: dict[str, Any]) -> None:
    _, reply = MESSAGES[method_of(recorded)]
    async with (
        serving(mirror(tmp_path, "member1", NODES)) as server,
        grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as channel,
    ):
        ask = channel.unary_unary(recorded["method"], response_deserializer=reply.FromString)
        answer = await ask(base64.b64decode(recorded["requestBase64"]))
    assert {name: getattr(answer, name) for name in recorded["answer"]} == recorded["answer"]
