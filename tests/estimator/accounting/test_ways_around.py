"""Ways in which somebody may try to run more than his quota allows: each is charged, or refused."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from estimator.accounting.admission.decide import Gate, Interpretation
from estimator.accounting.audit.totals import Tally
from estimator.accounting.demand import decode_binding
from estimator.accounting.ledger.ledger import Ledger
from estimator.accounting.reconcile import Reconciliation
from estimator.accounting.sources.quota_files import GivenQuotas
from estimator.quotas.amounts import texts
from estimator.quotas.objects import read_quota
from interpreters.core.interpreted import Interpreted
from interpreters.core.requirements import Component, ComponentRequirements
from tests.estimator.accounting.conftest import Clock
from tests.estimator.accounting.samples import binding, binding_request, federated, limit, one, request


def part(replicas: int = 1, cpu: str = "2") -> dict[str, Any]:
    return {"name": "main", "replicas": replicas, "replicaRequirements": {"resourceRequest": {"cpu": cpu}}}


PARTS = [part()]
NEEDS = {"resourceRequest": {"cpu": "2"}}
TO_TWO = {"clusters": [{"name": "m1"}, {"name": "m2"}]}

COUNTED = [  # what a binding says, processors that it costs in an audit, and in the ledger
    ("sets in clusters", {"components": PARTS, **TO_TWO}, "4", "4"),
    ("no cluster yet", {"components": PARTS}, "0", "2"),
    ("runs as a dependency of another", {"components": PARTS, "requiredBy": [TO_TWO]}, "4", "4"),
    ("both", {"components": PARTS, "clusters": [{"name": "m1"}], "requiredBy": [TO_TWO]}, "4", "4"),
    ("of two others", {"components": PARTS, "requiredBy": [TO_TWO, {"clusters": [{"name": "m3"}]}]}, "6", "6"),
    ("dependency with replicas", {"replicas": 1, "replicaRequirements": NEEDS,
                                  "requiredBy": [{"clusters": [{"name": "m1", "replicas": 3}]}]}, "6", "6"),
    ("dependency of one that is nowhere", {"components": PARTS, "requiredBy": [{"clusters": None}]}, "0", "2"),
    ("suspended", {"components": PARTS, **TO_TWO, "suspension": {"dispatching": True}}, "4", "4"),
    ("not to be scheduled", {"components": PARTS, "suspension": {"scheduling": True}}, "0", "2"),
    ("being evicted", {"components": PARTS, **TO_TWO, "gracefulEvictionTasks": [{"fromCluster": "m9"}]}, "4", "4"),
    ("the same cluster twice", {"components": PARTS, "clusters": [{"name": "m1"}, {"name": "m1"}]}, "4", "4"),
    ("components and replicas", {"components": PARTS, "replicas": 0, **TO_TWO}, "4", "4"),
    ("nulls", {"components": PARTS, **TO_TWO, "replicas": None, "replicaRequirements": None, "requiredBy": None,
               "placement": None, "gracefulEvictionTasks": None}, "4", "4"),
    ("null components", {"components": None, "replicas": 2, "replicaRequirements": NEEDS,
                         "clusters": [{"name": "m1", "replicas": 2}]}, "4", "4"),
    ("null clusters", {"components": PARTS, "clusters": None}, "0", "2"),
    ("null replicas of a cluster", {"replicas": 2, "replicaRequirements": NEEDS,
                                    "clusters": [{"name": "m1", "replicas": None}]}, "0", "0"),
    ("null request", {"components": [{**part(), "replicaRequirements": {"resourceRequest": None}}], **TO_TWO},
     "0", "0"),
    ("null requirements", {"components": [{**part(), "replicaRequirements": None}], **TO_TWO}, "0", "0"),
    ("null amount", {"components": [{**part(), "replicaRequirements": {"resourceRequest": {"cpu": None}}}], **TO_TWO},
     "0", "0"),
    ("null replicas of a component", {"components": [{**part(), "replicas": None}], **TO_TWO}, "0", "0"),
]  # fmt: skip


def bound(spec: dict[str, Any]) -> dict[str, Any]:
    found = binding(**spec) if spec.get("clusters") else binding(**{**spec, "clusters": ()})
    return {**found, "spec": {**found["spec"], **spec}}


@pytest.mark.parametrize(("spec", "audited", "charged"), [row[1:] for row in COUNTED], ids=[row[0] for row in COUNTED])
async def test_a_binding_costs_the_same_wherever_it_is_counted(
    ledger: Ledger, clock: Clock, spec: dict[str, Any], audited: str, charged: str
) -> None:
    tally = Tally()
    tally.add(decode_binding(json.dumps(bound(spec)).encode()))
    assert texts(tally.namespaces["team-a"].used).get("cpu", "0") == audited
    verdict = await Gate(ledger, GivenQuotas([limit({"cpu": "100"})])).decide(
        binding_request("CREATE", bound(spec)), None
    )
    assert verdict.allowed, verdict.message
    assert texts(await ledger.used("team-a")).get("cpu", "0") == charged
    run = Reconciliation(ledger, clock.now + 60)
    assert [str(found) for found in await run.take([decode_binding(json.dumps(bound(spec)).encode())])] == []


SCALED = [  # before, after, whether 10 processors allow it
    ({"clusters": [{"name": "m1", "replicas": 3}]}, {"clusters": [{"name": "m1", "replicas": 5}]}, True),
    ({"clusters": [{"name": "m1", "replicas": 3}]}, {"clusters": [{"name": "m1", "replicas": 6}]}, False),
    ({"clusters": [{"name": "m1", "replicas": 3}]},
     {"clusters": [{"name": "m1", "replicas": 3}, {"name": "m2", "replicas": 3}]}, False),
    ({"clusters": [{"name": "m1", "replicas": 9}]}, {"clusters": [{"name": "m1", "replicas": 8}]}, True),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "allowed"), SCALED)
async def test_what_is_scaled_past_the_workloads_admission_is_refused_at_its_binding(
    ledger: Ledger, before: dict[str, Any], after: dict[str, Any], allowed: bool
) -> None:
    """`kubectl scale` and autoscalers write the scale subresource, which admission is not asked about."""
    legacy = {"replicas": 3, "replicaRequirements": NEEDS}
    old, new = bound({**legacy, **before}), bound({**legacy, "replicas": 9, **after})
    door = Gate(ledger, GivenQuotas([limit({"cpu": "10"})]))
    for obj in (old, old):
        obj["metadata"]["uid"] = "u"
    new["metadata"]["uid"] = "u"
    assert (await door.decide(binding_request("UPDATE", old, old), None)).allowed, "what is there stays"
    verdict = await door.decide(binding_request("UPDATE", new, old), None)
    assert (verdict.allowed, verdict.reason == "QuotaExceeded") == (allowed, not allowed)


async def test_a_generated_name_is_charged(ledger: Ledger) -> None:
    door = Gate(ledger, GivenQuotas([limit({"cpu": "3"})]))
    unnamed = {"metadata": {"generateName": "job-", "namespace": "team-a"}}
    verdicts = [(await door.decide(request(name="", obj=unnamed), Interpretation(one("2")))).allowed for _ in range(2)]
    assert verdicts == [True, False]


async def test_a_binding_that_names_an_object_of_another_namespace_is_refused(ledger: Ledger) -> None:
    foreign = binding(components=PARTS, clusters=("m1",))
    foreign["metadata"]["namespace"] = "team-b"
    verdict = await Gate(ledger, GivenQuotas([limit({"cpu": "10"})])).decide(binding_request("CREATE", foreign), None)
    assert "its binding is in namespace team-b and names an object of team-a" in verdict.message
    assert await ledger.used("team-a") == await ledger.used("team-b") == {}


async def test_every_quota_of_the_namespace_has_to_allow_it(ledger: Ledger) -> None:
    first, second = federated({"cpu": "10"}), federated({"cpu": "3"}, name="small")
    door = Gate(ledger, GivenQuotas([read_quota(first), read_quota(second)]))
    assert (await door.decide(request(name="a"), Interpretation(one("2")))).allowed
    refused = await door.decide(request(name="b"), Interpretation(one("2")))
    assert "FederatedResourceQuota team-a/small: cpu: used 2, asked 2, limit 3" in refused.message


async def test_a_rehearsal_charges_nothing_and_is_refused_alike(ledger: Ledger) -> None:
    door = Gate(ledger, GivenQuotas([limit({"cpu": "3"})]))
    assert (await door.decide(request(name="a", dry_run=True), Interpretation(one("3")))).allowed
    assert not (await door.decide(request(name="a", dry_run=True), Interpretation(one("4")))).allowed
    assert await ledger.used("team-a") == {}
    assert [line async for line in ledger.decisions()] == []


async def test_what_belongs_to_no_namespace_costs_no_quota_and_is_shown(ledger: Ledger) -> None:
    cluster = bound({"components": PARTS, **TO_TWO})
    cluster["kind"] = "ClusterResourceBinding"
    del cluster["metadata"]["namespace"], cluster["spec"]["resource"]["namespace"]
    assert (
        await Gate(ledger, GivenQuotas([limit({"cpu": "1"})])).decide(binding_request("CREATE", cluster), None)
    ).allowed
    assert texts(await ledger.used(""))["cpu"] == "4"


def classed(priority: str, replicas: int) -> Interpretation:
    needs = ComponentRequirements(resource_request={"cpu": "1"}, priority_class_name=priority)
    return Interpretation(Interpreted(components=(Component("main", replicas, needs),)))


async def test_a_priority_class_is_not_entered_by_an_update(ledger: Ledger) -> None:
    """The whole does not grow, the part that the quota counts does."""
    selector = {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}]}
    quota = {"kind": "ResourceQuota", "metadata": {"namespace": "team-a", "name": "high"},
             "spec": {"hard": {"cpu": "2"}, "scopeSelector": selector}}  # fmt: skip
    door = Gate(ledger, GivenQuotas([read_quota(quota)]))
    low = classed("low", 10)
    assert (await door.decide(request(), low)).allowed
    for priority, replicas, allowed in (("high", 10, False), ("high", 2, True), ("low", 10, True)):
        said = replace(classed(priority, replicas), old=low.new)
        assert (await door.decide(request("UPDATE"), said)).allowed is allowed, priority


async def test_what_a_deleted_workload_still_runs_lapses_unless_its_binding_is_seen(
    ledger: Ledger, clock: Clock
) -> None:
    door = Gate(ledger, GivenQuotas([limit({"cpu": "4"})]))
    runs = bound({"components": PARTS, **TO_TWO})
    runs["metadata"] |= {"uid": "its binding", "resourceVersion": "7"}
    for seen in (True, False):
        assert (await door.decide(binding_request("UPDATE", runs, runs), None)).allowed
        assert (await door.decide(request("DELETE"), Interpretation())).allowed
        assert texts(await ledger.used("team-a"))["cpu"] == "4"
        clock.now += ledger.provisional_seconds - 1
        if seen:
            seen_again = {**runs, "metadata": {**runs["metadata"], "resourceVersion": "9"}}
            run = Reconciliation(ledger, clock.now)
            await run.take([decode_binding(json.dumps(seen_again).encode())])
        clock.now += 2
        assert texts(await ledger.used("team-a")).get("cpu") == ("4" if seen else None)


async def test_a_successor_is_charged_beside_what_its_predecessor_still_runs(ledger: Ledger) -> None:
    """Deleted with its pods left running, and created again much smaller: what runs counts until it goes."""
    door = Gate(ledger, GivenQuotas([limit({"cpu": "4"})]))
    runs = bound({"components": PARTS, **TO_TWO})
    assert (await door.decide(binding_request("CREATE", runs), None)).allowed
    assert (await door.decide(request("DELETE"), Interpretation())).allowed
    assert (await door.decide(request(obj={"metadata": {"name": "job", "namespace": "team-a", "uid": "new"}}),
                              Interpretation(one("1")))).allowed  # fmt: skip
    assert texts(await ledger.used("team-a"))["cpu"] == "4"
    assert (await door.decide(binding_request("DELETE", runs), None)).allowed
    assert texts(await ledger.used("team-a"))["cpu"] == "1"
