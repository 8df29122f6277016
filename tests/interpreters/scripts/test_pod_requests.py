"""What a bundled script charges for a pod, against what Kubernetes itself charges, sidecars and all."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from interpreters.core.kinds import GroupVersionKind
from interpreters.core.quantity import Quantity
from tests.interpreters.scripts.bundled import ask

VECTORS = Path(os.environ.get("VECTORS_DIR", Path(__file__).parents[2] / "vectors"))
DEPLOYMENT = GroupVersionKind("apps", "v1", "Deployment")


def amounts(requests: dict[str, str]) -> dict[str, Quantity]:
    parsed = {name: Quantity.parse(text) for name, text in requests.items()}
    return {name: quantity for name, quantity in parsed.items() if quantity != Quantity.parse("0")}


@pytest.mark.parametrize("number", range(150))
def test_a_pod_is_charged_as_kubernetes_charges_it(number: int) -> None:
    vector: dict[str, Any] = json.loads((VECTORS / "kubernetes-pod-requests.json").read_text())[number]
    template = {"spec": vector["podSpec"]}
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"template": template}}
    (component,) = ask(DEPLOYMENT, "GetComponents", deployment)
    requested = component.get("replicaRequirements", {}).get("resourceRequest", {})
    assert amounts(requested) == amounts(vector["requests"])
