"""Requests captured from a real karmada-controller-manager, replayed byte for byte and judged by Karmada's rules."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interp.verbs.doctor.acceptance import problems_of
from interpreters.core.kinds import GroupVersionKind
from tests.webhook.server import SCRIPTS, Client, Server

FILE = Path(__file__).parents[1] / "recordings" / "webhook-requests.json"
RECORDINGS: list[dict[str, Any]] = json.loads(FILE.read_text())


@pytest.fixture(scope="module", params=["lua", "starlark"])
def replayed(request: pytest.FixtureRequest, certs: Path) -> Iterator[Client]:
    with Server(certs, "--scripts", str(SCRIPTS), "--bundled-language", request.param) as server:
        client = Client(server.port, certs / "ca.crt")
        yield client
        client.close()


def test_karmada_would_accept_the_reply_to_every_recorded_request(replayed: Client) -> None:
    """What no script offers is not registered, so Karmada would not have asked; it is refused in the envelope."""
    offered = replayed.get("/version")[1]["kinds"]
    refused, not_offered = [], set()
    for number, recording in enumerate(RECORDINGS):
        sent = recording["request"]
        headers = {name: value for name, value in sent["headers"] if name not in ("Host", "Content-Length")}
        replayed.connection.request(sent["method"], sent["path"], sent["body"].encode(), headers)
        response = replayed.connection.getresponse()
        asked = json.loads(sent["body"])["request"]
        problems = problems_of(asked, response.status, response.read())
        kind = GroupVersionKind(**asked["kind"])
        if asked["operation"] not in offered[str(kind)]:
            assert ["failed with status 404: no script answers" in problem for problem in problems] == [True]
            not_offered.add((kind.kind, asked["operation"]))
            continue
        refused += [(number, recording["operation"], recording["object"], problem) for problem in problems]
    assert len(RECORDINGS) > 100
    assert refused == []
    assert not_offered <= {("FlinkDeployment", "Retain")}


def test_the_same_request_gets_the_same_bytes_from_every_worker(replayed: Client) -> None:
    for recording in RECORDINGS[:13]:
        body = recording["request"]["body"].encode()
        answers = {json.dumps(replayed.post(body)) for _ in range(os.cpu_count() or 2)}
        assert len(answers) == 1
