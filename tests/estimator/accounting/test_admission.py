"""Admission decides, charges and records in one step, on SQLite and on PostgreSQL alike."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from estimator.accounting.admission.decide import ClusterFit, Gate, Interpretation, Mode, Modes
from estimator.accounting.admission.review import Verdict, decode_review, encode_review
from estimator.accounting.ledger.ledger import Ledger
from estimator.accounting.sources.quota_files import GivenQuotas
from estimator.quotas.amounts import texts
from estimator.quotas.objects import Quota
from interpreters.core.errors import RequestError
from interpreters.core.interpreted import Interpreted
from tests.estimator.accounting.conftest import Clock
from tests.estimator.accounting.samples import binding, binding_request, book, component, limit, one, request

TEN_CPUS = limit({"cpu": "10"})


def gate(ledger: Ledger, *quotas: Quota, mode: Mode = "enforce", **namespaces: Mode) -> Gate:
    return Gate(ledger, GivenQuotas(quotas or (TEN_CPUS,)), Modes(mode, namespaces))


def said(new: Interpreted, old: Interpreted | None = None, **more: Any) -> Interpretation:
    return Interpretation(new, old, **more)


async def cpu(ledger: Ledger, namespace: str = "team-a") -> str:
    return texts(await ledger.used(namespace)).get("cpu", "0")


async def test_what_fits_is_charged_and_what_does_not_is_refused_with_all_figures(ledger: Ledger) -> None:
    door = gate(ledger)
    assert (await door.decide(request(name="first"), said(one("8")))).allowed
    big = Interpreted(components=(component("jobmanager", 1, "500m"), component("taskmanager", 3, "1")))
    refused = await door.decide(request(name="second"), said(big))
    assert refused == Verdict(
        False,
        "FederatedResourceQuota team-a/compute: cpu: used 8, asked 3500m, limit 10, 1500m too much; "
        "component taskmanager weighs most (3)",
        reason="QuotaExceeded",
    )
    assert await cpu(ledger) == "8"
    record = [(line.workload.name, line.allowed, line.username, line.mode) async for line in ledger.decisions()]
    assert record == [("second", False, "alice", "enforce"), ("first", True, "alice", "enforce")]


async def test_the_same_request_again_changes_nothing(ledger: Ledger) -> None:
    door, asked = gate(ledger), request()
    for _ in range(3):
        assert (await door.decide(asked, said(one("6")))).allowed
    assert await cpu(ledger) == "6"
    assert len([line async for line in ledger.decisions()]) == 1


async def test_an_update_is_charged_the_difference_and_shrinking_always_passes(ledger: Ledger) -> None:
    door = gate(ledger, limit({"cpu": "4"}))
    assert not (await door.decide(request("UPDATE"), said(one("9"), one("8")))).allowed
    assert (await door.decide(request("UPDATE"), said(one("7"), one("8")))).allowed, "over the limit, yet it shrinks"
    assert await cpu(ledger) == "8", "until the smaller one is seen, the larger one is charged"
    assert (await door.decide(request("UPDATE", uid="again"), said(one("7"), one("7")))).allowed
    assert await cpu(ledger) == "7"


async def test_a_deleted_workload_is_charged_no_more(ledger: Ledger) -> None:
    door = gate(ledger)
    await door.decide(request(), said(one("6")))
    assert (await door.decide(request("DELETE"), said(one("6")))).allowed
    assert await cpu(ledger) == "0"


async def test_a_dry_run_decides_without_recording(ledger: Ledger) -> None:
    door = gate(ledger)
    assert (await door.decide(request(dry_run=True), said(one("6")))).allowed
    assert not (await door.decide(request(dry_run=True), said(one("11")))).allowed
    assert await cpu(ledger) == "0"
    assert [line async for line in ledger.decisions()] == []


@pytest.mark.parametrize(("mode", "allowed", "warned"), [("enforce", False, 0), ("warn", True, 1), ("record", True, 0)])
async def test_the_mode_of_the_namespace_decides_what_a_breach_leads_to(
    ledger: Ledger, mode: Mode, allowed: bool, warned: int
) -> None:
    door = gate(ledger, **{"team-a": mode})
    verdict = await door.decide(request(), said(one("11")))
    assert (verdict.allowed, len(verdict.warnings)) == (allowed, warned)
    assert await cpu(ledger) == ("11" if allowed else "0")
    assert "too much" in next(iter([line.message async for line in ledger.decisions()]))


async def test_a_kind_that_nobody_knows_is_allowed_untouched(ledger: Ledger) -> None:
    assert await gate(ledger).decide(request(), None) == Verdict(True)
    assert [line async for line in ledger.decisions()] == []


async def test_a_workload_that_cannot_be_interpreted_does_not_slip_past_the_quota(ledger: Ledger) -> None:
    broken = Interpretation(problem="flink.lua:3: in GetComponents: boom")
    verdict = await gate(ledger).decide(request(), broken)
    assert not verdict.allowed
    assert verdict.message == "FlinkDeployment.flink.apache.org team-a/job: flink.lua:3: in GetComponents: boom"
    assert (await gate(ledger, mode="warn").decide(request(), broken)).allowed


async def test_objects_on_their_way_out_are_never_held_up(ledger: Ledger) -> None:
    leaving = request("UPDATE", deletionTimestamp="2026-01-01T00:00:00Z")
    assert (await gate(ledger).decide(leaving, said(one("99"), one("1")))).allowed


async def test_one_set_until_the_binding_names_clusters_then_what_the_binding_says(ledger: Ledger) -> None:
    door = gate(ledger)
    await door.decide(request(), said(one("2")))
    wire = [{"name": "main", "replicas": 1, "replicaRequirements": {"resourceRequest": {"cpu": "2"}}}]
    unscheduled = binding(components=wire)
    assert (await door.decide(binding_request("CREATE", unscheduled), None)).allowed
    assert await cpu(ledger) == "2"
    three = binding(components=wire, clusters=("m1", "m2", "m3"))
    assert (await door.decide(binding_request("UPDATE", three, unscheduled), None)).allowed
    assert await cpu(ledger) == "6"
    six = binding(components=wire, clusters=tuple(f"m{i}" for i in range(6)))
    refused = await door.decide(binding_request("UPDATE", six, three), None)
    assert "used 6, asked 6, limit 10" in refused.message
    assert not (await door.decide(request("UPDATE", generation=2), said(one("4"), one("2")))).allowed, (
        "three clusters of 4"
    )
    assert (await door.decide(request("UPDATE", generation=3), said(one("3"), one("2")))).allowed
    assert await cpu(ledger) == "9"
    assert (await door.decide(binding_request("DELETE", three), None)).allowed
    assert await cpu(ledger) == "3"


async def test_a_binding_that_was_there_before_the_ledger_is_not_refused_for_what_it_has(ledger: Ledger) -> None:
    wire = [{"name": "main", "replicas": 50, "replicaRequirements": {"resourceRequest": {"cpu": "1"}}}]
    old = binding(components=wire, clusters=("m1",))
    assert (await gate(ledger).decide(binding_request("UPDATE", {**old, "status": {}}, old), None)).allowed


async def test_replicas_shared_out_over_clusters_are_charged_as_the_binding_shares_them(ledger: Ledger) -> None:
    shared = binding(
        replicas=5, replicaRequirements={"resourceRequest": {"cpu": "1"}},
        clusters=({"name": "m1", "replicas": 3}, {"name": "m2", "replicas": 2}),
    )  # fmt: skip
    door = gate(ledger)
    assert (await door.decide(binding_request("CREATE", shared), None)).allowed
    assert await cpu(ledger) == "5"
    assert (await door.decide(request("UPDATE"), said(Interpreted(replicas=7), one("1", 5)))).allowed
    assert (await door.decide(request("UPDATE", uid="2"), said(one("1", 9), one("1", 5)))).allowed
    assert await cpu(ledger) == "9"


OWNER = [{"apiVersion": "batch/v1", "kind": "Job", "name": "parent", "controller": True}]
JOB = {"group": "batch", "version": "v1", "kind": "Job"}


@pytest.mark.parametrize("order", [("parent", "child"), ("child", "parent")])
async def test_an_owner_exempts_nothing(ledger: Ledger, order: Sequence[str]) -> None:
    """In Karmada's control plane nothing creates children: whatever names an owner there is propagated by itself."""
    door = gate(ledger)
    requests = {"parent": request(name="parent", kind=JOB), "child": request(name="child", ownerReferences=OWNER)}
    assert (await door.decide(requests[order[0]], said(one("6")))).allowed
    assert not (await door.decide(requests[order[1]], said(one("6")))).allowed
    assert await cpu(ledger) == "6"


async def test_a_charge_that_nobody_confirms_expires(ledger: Ledger, clock: Clock) -> None:
    door = gate(ledger)
    for name in ("refused-elsewhere", "seen"):
        await door.decide(request(name=name), said(one("5")))
    async with ledger.page("team-a") as page:
        assert await page.sight(request(name="seen").workload, _demand("5"))
    assert not (await door.decide(request(name="third"), said(one("5")))).allowed
    clock.now += 601
    assert await cpu(ledger) == "5"
    assert (await door.decide(request(name="third"), said(one("5")))).allowed
    assert await cpu(ledger) == "10"


async def test_an_update_refused_elsewhere_falls_back_to_what_was_there(ledger: Ledger, clock: Clock) -> None:
    door = gate(ledger)
    await book(ledger, request().workload, _demand("2"))
    await door.decide(request("UPDATE", generation=2), said(one("9"), one("2")))
    await book(ledger, request().workload, _demand("2"))
    assert await cpu(ledger) == "9", "a binding of before does not drop what was promised since"
    clock.now += 601
    assert await cpu(ledger) == "2"


async def test_at_least_one_cluster_must_fit_one_set(ledger: Ledger) -> None:
    full = (ClusterFit("m1", 0, "cpu is short by 2"), ClusterFit("m2", 0))
    verdict = await gate(ledger).decide(request(), said(one("1"), fits=full))
    assert verdict.message.endswith("no cluster fits one set: m1: cpu is short by 2; m2: full")
    assert (await gate(ledger).decide(request(), said(one("1"), fits=(*full, ClusterFit("m3", 1))))).allowed


async def test_static_assignments_limit_each_cluster(ledger: Ledger) -> None:
    assigned = limit({"cpu": "100"}, staticAssignments=[{"clusterName": "m1", "hard": {"cpu": "3"}}])
    wire = [{"name": "main", "replicas": 2, "replicaRequirements": {"resourceRequest": {"cpu": "1"}}}]
    door = gate(ledger, assigned)
    assert (await door.decide(binding_request("CREATE", binding("a", components=wire, clusters=("m1",))), None)).allowed
    refused = await door.decide(binding_request("CREATE", binding("b", components=wire, clusters=("m1", "m2"))), None)
    assert "in cluster m1: cpu: used 2, asked 2, limit 3, 1 too much" in refused.message
    assert (await door.decide(binding_request("CREATE", binding("b", components=wire, clusters=("m2",))), None)).allowed


async def test_keys_that_cannot_be_computed_are_named(ledger: Ledger) -> None:
    keys = {"limits.cpu": "1", "pods": "5", "count/flinkdeployments.flink.apache.org": "1"}
    verdict = await gate(ledger, limit(keys)).decide(request(), said(one("1")))
    assert verdict.warnings == (
        "FederatedResourceQuota team-a/compute: limits.cpu is not checked: bindings carry requests, not limits",
    )
    second = await gate(ledger, limit({"count/flinkdeployments.flink.apache.org": "1"})).decide(
        request(name="second"), said(one("1"))
    )
    assert "count/flinkdeployments.flink.apache.org: used 1, asked 1, limit 1" in second.message
    many = await gate(ledger, limit({"count/pods": "5"})).decide(request(name="third"), said(one("1", 5)))
    assert "count/pods: used 1, asked 5, limit 5" in many.message


async def test_of_64_clients_racing_for_the_last_cpu_exactly_one_gets_it(ledger_url: str, clock: Clock) -> None:
    async with Ledger(ledger_url, clock=clock) as one_replica, Ledger(ledger_url, clock=clock) as another:
        await gate(one_replica).decide(request(name="before"), said(one("9")))
        doors = [gate(one_replica), gate(another)]
        race = [doors[i % 2].decide(request(name=f"racer-{i}"), said(one("1"))) for i in range(64)]
        verdicts = await asyncio.gather(*race)
        assert sum(verdict.allowed for verdict in verdicts) == 1
        assert await cpu(one_replica) == "10"


def test_the_envelope_is_read_and_written_as_the_api_server_expects() -> None:
    assert json.loads(encode_review("u", Verdict(True))) == {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "response": {"uid": "u", "allowed": True},
    }
    denied = json.loads(encode_review("u", Verdict(False, "no", ("w" * 300,))))["response"]
    assert denied["status"] == {"code": 403, "reason": "Forbidden", "message": "no"}
    full = json.loads(encode_review("u", Verdict(False, "no", reason="QuotaExceeded")))["response"]
    assert full["status"] == {"code": 403, "reason": "QuotaExceeded", "message": "no"}
    assert len(denied["warnings"][0]) == 256


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"[]", "not an AdmissionReview: expected an object, got a list"),
        (b"{}", "request: missing"),
        (
            b'{"apiVersion": "admission.k8s.io/v1beta1", "request": null}',
            "expected admission.k8s.io/v1 AdmissionReview",
        ),
        (b'{"request": {"uid": "u", "operation": "CREATE"}}', "kind"),
    ],
)
def test_a_malformed_envelope_is_refused_with_the_reason(body: bytes, problem: str) -> None:
    with pytest.raises(RequestError, match=problem):
        decode_review(body)


def _demand(cpus: str) -> Any:
    from tests.estimator.accounting.samples import demand

    return demand(("main", 1, {"cpu": cpus}))
