"""With a kubeconfig the server fills its ledger from the bindings before it decides, and keeps it filled.

The API server here is one that holds what it is given; `tests/live/admission.py` does the same with a real one.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.interp.command import interp
from tests.webhook.api_server import ApiServer, api_server
from tests.webhook.server import SCRIPTS, Client, Server, eventually, request
from tests.webhook.test_admit import QUOTA, decide, review

BINDINGS = "/apis/work.karmada.io/v1alpha2/resourcebindings"
QUOTAS = "/apis/policy.karmada.io/v1alpha1/federatedresourcequotas"
ACT = "/apis/stage.example.org/v1/namespaces/default/acts"
BUDGET = "/admit?timeout=2s"


def component(cpu: str) -> dict[str, Any]:
    return {"name": "main", "replicas": 1, "replicaRequirements": {"resourceRequest": {"cpu": cpu}}}


def bound(name: str, **spec: Any) -> dict[str, Any]:
    resource = {"apiVersion": "stage.example.org/v1", "kind": "Act", "namespace": "default", "name": name}
    return {"metadata": {"name": f"{name}-act", "namespace": "default"},
            "spec": {"resource": resource, "clusters": [{"name": "m1"}, {"name": "m2"}], **spec}}  # fmt: skip


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Iterator[Path]:
    with api_server(tmp_path) as file:
        whole = request("starlark", "InterpretComponent", components=[component("1")])["object"]
        whole["metadata"] |= {"name": "whole", "namespace": "default"}
        ApiServer.held |= {
            QUOTAS: {"items": [QUOTA]},
            BINDINGS: {"items": [bound("there", components=[component("3")]), bound("whole"), bound("lost"),
                                 bound("nulls", components=None, replicas=None, replicaRequirements=None)]},
            "/apis/stage.example.org/v1": {"resources": [{"name": "acts", "kind": "Act"}]},
            f"{ACT}/whole": whole,
        }  # fmt: skip
        yield file


def flags(kubeconfig: Path, *more: str) -> list[str]:
    ledger = f"sqlite:///{kubeconfig.parent / 'ledger.db'}"
    return ["--scripts", str(SCRIPTS), "--bundled-language", "none", "--workers", "1", "--kubeconfig", str(kubeconfig),
            "--ledger", ledger, *more]  # fmt: skip


def is_ready(client: Client) -> bool:
    return client.get("/readyz/admit")[0] == 200


def test_a_cold_ledger_is_filled_before_anything_is_decided_and_again_later(certs: Path, kubeconfig: Path) -> None:
    with Server(certs, *flags(kubeconfig, "--reconcile-seconds", "10")) as server:
        client = Client(server.port, certs / "ca.crt")
        assert eventually(lambda: is_ready(client))
        response = decide(client, review("more", "3"))
        assert "cpu: used 8, asked 3, limit 10, 1 too much" in response["status"]["message"]
        assert decide(client, review("less", "2"))["allowed"]
        told = server.wait_for("a binding is uncounted", workload="Act.stage.example.org default/lost")
        assert "says neither replicas nor components and its object is not at hand" in told["reason"]
        shown = interp("ledger", "show", kubeconfig.parent / "ledger.db").out
        assert "Act.stage.example.org default/there in m1, m2: cpu 6, pods 2 (confirmed)" in shown
        assert "Act.stage.example.org default/whole in m1, m2: cpu 2, pods 2 (confirmed)" in shown
        ApiServer.held[BINDINGS]["items"].append(bound("later", components=[component("4")]))
        server.wait_for("compared the ledger with Karmada's bindings", 2)
        assert "used 18, asked 1" in decide(client, review("after", "1"))["status"]["message"]


def test_until_the_bindings_can_be_read_nothing_is_decided_and_that_is_told(certs: Path, kubeconfig: Path) -> None:
    bindings = ApiServer.held.pop(BINDINGS)
    ApiServer.held[BINDINGS] = {"items": "none of your business"}
    with Server(certs, *flags(kubeconfig)) as server:
        client = Client(server.port, certs / "ca.crt")
        logged = server.wait_for("the ledger cannot be compared with Karmada's bindings")
        status, problem = client.post(review("one", "1"), BUDGET)
        assert (status, problem["message"]) == (503, logged["reason"])
        status, ready = client.get("/readyz")
        assert (status, ready["checks"]["reconciled"]) == (200, f"degraded: {logged['reason']}")
        ApiServer.held[BINDINGS] = bindings
        assert eventually(lambda: is_ready(client))
        assert not decide(client, review("one", "3"))["allowed"]


def test_what_one_server_compared_another_relies_on(certs: Path, kubeconfig: Path) -> None:
    with Server(certs, *flags(kubeconfig)) as server:
        client = Client(server.port, certs / "ca.crt")
        assert eventually(lambda: is_ready(client))
    del ApiServer.held[BINDINGS]
    with Server(certs, *flags(kubeconfig)) as server:
        client = Client(server.port, certs / "ca.crt")
        assert eventually(lambda: is_ready(client))
        assert not decide(client, review("more", "3"))["allowed"]
        assert not [line for line in server.lines() if line["message"].startswith("compared the ledger")]
