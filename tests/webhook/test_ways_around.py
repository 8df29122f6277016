"""A tenant who wants more than the quota, with a real server on both databases: ten processors stay ten."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.estimator.accounting.conftest import ledger_url, postgres
from tests.interp.command import interp
from tests.webhook.server import Client, Server
from tests.webhook.test_admit import QUOTA, decide, flags, review

__all__ = ["ledger_url", "postgres"]  # fixtures
BINDING = {"group": "work.karmada.io", "version": "v1alpha2", "kind": "ResourceBinding"}


class Tenant:
    """Somebody with a server to ask, and a look at the ledger."""

    def __init__(self, client: Client, ledger: str) -> None:
        self.client, self.ledger = client, ledger

    def act(self, name: str, pods: int, operation: str = "CREATE", old: int | None = None, **metadata: Any) -> bool:
        """Whether an Act with so many pods of one processor may come, change or go."""
        asked = review(name, "1", operation)["request"]
        for field, replicas in (("object", pods), ("oldObject", pods if old is None else old)):
            asked[field] = None
            if (field, operation) not in (("object", "DELETE"), ("oldObject", "CREATE")):
                obj = review(name, "1")["request"]["object"]
                obj["spec"]["components"][0]["replicas"] = replicas
                obj["metadata"] |= {"uid": f"uid of {name}", **metadata}
                asked[field] = obj
        return self.allowed(asked)

    def bind(self, name: str, clusters: dict[str, int], old: dict[str, int] | None = None, *, operation: str = "",
             called: str = "") -> bool:  # fmt: skip
        """Whether its binding may put so many replicas into clusters."""
        asked = review(called or f"{name}-act", "1", operation or ("CREATE" if old is None else "UPDATE"))["request"]
        asked["kind"] = BINDING
        asked["object"] = None if operation == "DELETE" else binding(name, clusters, called)
        asked["oldObject"] = binding(name, old or clusters, called) if asked["operation"] != "CREATE" else None
        return self.allowed(asked)

    def allowed(self, asked: dict[str, Any]) -> bool:
        answer = decide(self.client, {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": asked})
        found: bool = answer["allowed"]
        assert found or answer["status"]["reason"] == "QuotaExceeded", answer
        return found

    @property
    def charged(self) -> str:
        return interp("ledger", "show", self.ledger, "--decisions", "0").out.partition("\n")[0]


def binding(name: str, clusters: dict[str, int], called: str = "") -> dict[str, Any]:
    resource = {"apiVersion": "stage.example.org/v1", "kind": "Act", "namespace": "default", "name": name,
                "uid": f"uid of {name}"}  # fmt: skip
    spec = {
        "resource": resource,
        "replicas": sum(clusters.values()),
        "replicaRequirements": {"resourceRequest": {"cpu": "1"}},
        "clusters": [{"name": cluster, "replicas": replicas} for cluster, replicas in clusters.items()],
    }
    metadata = {"name": called or f"{name}-act", "namespace": "default", "uid": f"uid of {called or name}'s binding"}
    return {"apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding", "metadata": metadata, "spec": spec}


@pytest.fixture
def tenant(certs: Path, tmp_path: Path, ledger_url: str) -> Iterator[Tenant]:
    with Server(certs, *flags(tmp_path, "--ledger", ledger_url)) as server:
        client = Client(server.port, certs / "ca.crt")
        yield Tenant(client, ledger_url)
        client.close()


def test_what_was_scaled_is_not_let_in_by_an_update_of_something_else(tenant: Tenant) -> None:
    """`kubectl scale` writes the object past admission; then a label makes admission see what is there already."""
    assert tenant.act("a", 1)
    assert tenant.bind("a", {"m1": 1})
    assert not tenant.bind("a", {"m1": 100}, {"m1": 1})
    assert tenant.act("a", 100, "UPDATE", labels={"some": "label"}), "nothing grows by a label"
    assert not tenant.bind("a", {"m1": 100}, {"m1": 1})
    assert tenant.act("a", 50, "UPDATE", old=100), "what shrinks always may"
    assert not tenant.bind("a", {"m1": 50}, {"m1": 1})
    assert tenant.bind("a", {"m1": 10}, {"m1": 1})


def test_what_was_scaled_before_it_is_bound_is_refused_at_its_binding(tenant: Tenant) -> None:
    assert tenant.act("a", 1)
    assert tenant.act("a", 100, "UPDATE", labels={"some": "label"})
    assert not tenant.bind("a", {"m1": 100})


@pytest.mark.parametrize("finalizers", [["example.org/mine"], []], ids=["a finalizer", "--cascade=orphan"])
def test_what_is_deleted_and_runs_on_stays_charged(tenant: Tenant, finalizers: list[str]) -> None:
    assert tenant.act("a", 10)
    assert tenant.bind("a", {"m1": 10})
    assert tenant.act("a", 10, "DELETE", finalizers=finalizers)
    assert not tenant.act("b", 1), "no binding has gone"
    assert not tenant.bind("b", {"m1": 1})
    assert tenant.charged == "default: charged cpu 10, pods 10"
    assert tenant.act("a", 10), "the same again is no more than what runs"
    assert tenant.act("a", 10, "DELETE")
    assert tenant.bind("a", {"m1": 10}, operation="DELETE")
    assert tenant.charged == "nothing is charged"
    assert tenant.act("b", 10)


def test_what_is_deleted_before_it_is_bound_is_free_at_once(tenant: Tenant) -> None:
    assert tenant.act("a", 10)
    assert tenant.act("a", 10, "DELETE")
    assert tenant.act("b", 10)


def test_a_second_binding_does_not_say_what_the_first_one_costs(tenant: Tenant) -> None:
    assert tenant.act("a", 9)
    assert tenant.bind("a", {"m1": 9})
    assert tenant.bind("a", {"m1": 1}, called="mine"), "there is room for one more"
    assert tenant.charged == "default: charged cpu 10, pods 10"
    assert not tenant.act("b", 1)
    assert tenant.bind("a", {"m1": 1}, called="mine", operation="DELETE")


@pytest.fixture
def part_of_m2(certs: Path, tmp_path: Path, ledger_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Tenant]:
    spec = {"overall": {"cpu": "10"}, "staticAssignments": [{"clusterName": "m2", "hard": {"cpu": "2"}}]}
    monkeypatch.setitem(QUOTA, "spec", spec)
    with Server(certs, *flags(tmp_path, "--ledger", ledger_url)) as server:
        client = Client(server.port, certs / "ca.crt")
        yield Tenant(client, ledger_url)
        client.close()


def test_what_moves_to_a_cluster_needs_room_in_its_part_of_the_quota(part_of_m2: Tenant) -> None:
    assert part_of_m2.bind("a", {"m1": 5})
    assert not part_of_m2.bind("a", {"m2": 5}, {"m1": 5})
    assert part_of_m2.bind("a", {"m1": 3, "m2": 2}, {"m1": 5})
    assert part_of_m2.bind("a", {"m1": 5}, {"m1": 3, "m2": 2})
