"""The server counts what calls cost in a histogram, and `scriptCost` bounds them for everybody."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.webhook.server import SCRIPTS, Client, Server, request


@pytest.mark.parametrize("language", ["lua", "starlark"])
def test_calls_are_counted_by_cost_and_bounded_by_script_cost(certs: Path, language: str) -> None:
    flags = ["--scripts", str(SCRIPTS), "--bundled-language", "none", "--workers", "1", "--script-cost", "100000"]
    with Server(certs, *flags) as server:
        client = Client(server.port, certs / "ca.crt")
        labels = {"operation": "InterpretReplica", "language": language}
        for _ in range(3):
            assert client.interpret(request(language, "InterpretReplica", replicas=2))["successful"]
        assert client.metric("interp_script_cost_count", **labels) == 3
        total = client.metric("interp_script_cost_sum", **labels)
        assert total > 0
        assert total % 3 == 0, "the same call costs the same"
        refused = client.interpret(request(language, "InterpretReplica", behaviour="loop"))
        assert refused["status"]["code"] == 422
        assert "it costs more than 100000 units" in refused["status"]["message"]
        assert client.metric("interp_workers_killed_total") == 0, "no worker is lost to it"
