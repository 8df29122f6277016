"""Requests that come twice, late or out of order: what was decided stands, and a successor is never freed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from estimator.accounting.admission.decide import Gate, Interpretation
from estimator.accounting.admission.review import AdmissionRequest
from estimator.accounting.ledger.ledger import Ledger
from estimator.accounting.sources.quota_files import GivenQuotas
from estimator.quotas.amounts import texts
from tests.estimator.accounting.conftest import Clock
from tests.estimator.accounting.samples import binding, binding_request, limit, one, request

PARTS = [{"name": "main", "replicas": 1, "replicaRequirements": {"resourceRequest": {"cpu": "2"}}}]


def gate(ledger: Ledger, cpus: str = "10") -> Gate:
    return Gate(ledger, GivenQuotas([limit({"cpu": cpus})]))


async def cpu(ledger: Ledger) -> str:
    return texts(await ledger.used("team-a")).get("cpu", "0")


def about(operation: str, uid: str, created: str = "", request_uid: str = "", **metadata: Any) -> AdmissionRequest:
    """A request about the object of that uid; every one of them has the same name."""
    obj = {"metadata": {"name": "job", "namespace": "team-a", "uid": uid, **metadata}}
    obj["metadata"] |= {"creationTimestamp": created} if created else {}
    return request(operation, obj=obj, uid=request_uid)


async def test_a_late_delete_does_not_free_the_successor(ledger: Ledger) -> None:
    door = gate(ledger)
    await door.decide(about("CREATE", "old"), Interpretation(one("3")))
    await door.decide(about("DELETE", "old"), Interpretation())
    await door.decide(about("CREATE", "new"), Interpretation(one("4")))
    assert (await door.decide(about("DELETE", "old"), Interpretation())).allowed
    assert await cpu(ledger) == "4"
    newest = [line.message async for line in ledger.decisions(limit=1)]
    assert newest == ["of an object that another one of the same name has replaced; that one stays charged"]
    await door.decide(about("DELETE", "new"), Interpretation())
    assert await cpu(ledger) == "0"


async def test_a_create_that_fails_because_the_name_is_taken_does_not_shield_the_one_that_has_it(
    ledger: Ledger, clock: Clock
) -> None:
    door = gate(ledger)
    await door.decide(about("UPDATE", "there"), Interpretation(one("3"), one("3")))
    await door.decide(about("CREATE", "refused"), Interpretation(one("3")))
    await door.decide(about("DELETE", "there"), Interpretation())
    assert await cpu(ledger) == "3", "for as long as the other may still come"
    clock.now += 601
    assert await cpu(ledger) == "0"


async def test_a_late_update_of_an_older_object_changes_nothing(ledger: Ledger) -> None:
    door = gate(ledger)
    await door.decide(about("CREATE", "new", "2026-01-02T00:00:00Z"), Interpretation(one("4")))
    late = about("UPDATE", "old", "2026-01-01T00:00:00Z")
    assert (await door.decide(late, Interpretation(one("9"), one("1")))).allowed
    assert await cpu(ledger) == "4"


async def test_a_create_redelivered_after_the_delete_charges_nothing(ledger: Ledger) -> None:
    door = gate(ledger)
    create = about("CREATE", "u", request_uid="the create")
    await door.decide(create, Interpretation(one("3")))
    await door.decide(about("DELETE", "u"), Interpretation())
    assert (await door.decide(create, Interpretation(one("3")))).allowed
    assert await cpu(ledger) == "0"


@pytest.mark.parametrize("cpus", ["3", "30"])
async def test_a_decision_is_never_overwritten(ledger: Ledger, cpus: str) -> None:
    create = about("CREATE", "u", request_uid="the create")
    first = await gate(ledger).decide(create, Interpretation(one(cpus)))
    again = await gate(ledger, cpus="1000").decide(create, Interpretation(one(cpus)))
    assert (again.allowed, again.message, again.reason) == (first.allowed, first.message, first.reason) or first.allowed
    assert again.allowed == first.allowed == (cpus == "3")
    assert [line.allowed async for line in ledger.decisions()] == [first.allowed]


async def test_the_same_uid_for_something_else_is_a_decision_of_its_own(ledger: Ledger) -> None:
    door = gate(ledger)
    await door.decide(request(name="a", uid="1"), Interpretation(one("3")))
    await door.decide(request(name="b", uid="1"), Interpretation(one("3")))
    assert await cpu(ledger) == "6"
    assert [line.workload.name async for line in ledger.decisions()] == ["b", "a"]


async def test_one_request_delivered_to_two_servers_at_once_is_decided_once(ledger_url: str, clock: Clock) -> None:
    async with Ledger(ledger_url, clock=clock) as here, Ledger(ledger_url, clock=clock) as there:
        create = about("CREATE", "u", request_uid="the create")
        asked = [gate(ledger).decide(create, Interpretation(one("3"))) for ledger in (here, there) * 8]
        assert all(verdict.allowed for verdict in await asyncio.gather(*asked))
        assert len([line async for line in here.decisions()]) == 1
        assert await cpu(here) == "3"


async def test_the_late_delete_of_an_older_binding_frees_nothing(ledger: Ledger) -> None:
    door = gate(ledger)

    def bound(uid: str) -> dict[str, Any]:
        found = binding(components=PARTS, clusters=("m1", "m2"))
        found["metadata"]["uid"] = uid
        return found

    await door.decide(binding_request("CREATE", bound("new")), None)
    await door.decide(binding_request("DELETE", bound("old")), None)
    assert await cpu(ledger) == "4"
    await door.decide(binding_request("DELETE", bound("new")), None)
    assert await cpu(ledger) == "2", "one set, until the workload itself goes"
