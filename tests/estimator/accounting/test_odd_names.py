"""Names with any characters, and amounts of any size: each is charged as itself, on both databases."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from estimator.accounting.admission.decide import Gate, Interpretation
from estimator.accounting.admission.review import Verdict
from estimator.accounting.demand import WorkloadKey
from estimator.accounting.ledger.charges import bound
from estimator.accounting.ledger.ledger import Ledger
from estimator.accounting.ledger.namespace_page import Page
from estimator.accounting.ledger.report import export_lines, read_statement, render_statement
from estimator.accounting.ledger.write_queue import Task
from estimator.accounting.sources.quota_files import GivenQuotas
from estimator.quotas.amounts import texts
from interpreters.core.interpreted import Interpreted
from tests.estimator.accounting.samples import binding, binding_request, component, demand, limit, one, request

ODD = ["with/slash", "a/b/c/d", "nul\0inside", "back\\slash", "\\u0000", "\N{SNOWMAN}", "'; DROP TABLE charges; --",
       " ", "new\nline", "%s", "\x7f\x01", "😀" * 60]  # fmt: skip


@pytest.mark.parametrize("odd", ODD)
async def test_an_odd_name_is_charged_shown_and_freed(ledger: Ledger, odd: str) -> None:
    gate = Gate(ledger, GivenQuotas([limit({"cpu": "10"}, namespace="team-a")]))
    owner = [{"apiVersion": "batch/v1", "kind": "Job", "name": odd, "controller": True}]
    parts = Interpreted(components=(component(odd, 1, "3", **{odd: "1"}),))
    assert (await gate.decide(request(name=odd, ownerReferences=owner), Interpretation(parts))).allowed
    assert (await gate.decide(request(name=odd + "x"), Interpretation(one("3")))).allowed
    refused = await gate.decide(request(name=odd + "y"), Interpretation(Interpreted((component(odd, 9, "1"),))))
    assert (refused.reason, odd in refused.message) == ("QuotaExceeded", True)
    wire = [
        {"name": odd, "replicas": 1, "replicaRequirements": {"resourceRequest": {"cpu": "1"}, "priorityClassName": odd}}
    ]
    assert (await gate.decide(binding_request("CREATE", binding("b", components=wire, clusters=(odd,))), None)).allowed
    used = texts(await ledger.used("team-a"))
    assert (used["cpu"], used[odd]) == ("7", "1")
    names = {charge.workload.name: charge.owner and charge.owner.name async for charge in ledger.charges("team-a")}
    assert names == {odd: odd, odd + "x": None, "b": None}
    assert odd in render_statement(await read_statement(ledger, namespace=None, decisions=9))
    assert len([line async for line in export_lines(ledger, "decisions", None)]) == 4
    for name in (odd, odd + "x"):
        await gate.decide(request("DELETE", name), Interpretation())
    assert texts(await ledger.used("team-a"))["cpu"] == "1"


async def test_an_odd_namespace_is_one_of_its_own(ledger: Ledger) -> None:
    for namespace in ("a", "a/b", "a\0", "a\\u0000"):
        gate = Gate(ledger, GivenQuotas())
        assert (await gate.decide(request(namespace=namespace), Interpretation(one("1")))).allowed
    assert {name: texts(found)["cpu"] for name, found in (await ledger.totals()).items()} == {
        "a": "1", "a/b": "1", "a\0": "1", "a\\u0000": "1",
    }  # fmt: skip


async def test_sums_beyond_64_bits_are_exact_and_later_requests_are_decided(ledger: Ledger) -> None:
    gate = Gate(ledger, GivenQuotas([limit({"cpu": "100"})]))
    for number in range(40):
        said = Interpretation(one("1", 1000, **{"x.io/huge": "9E", "memory": "8Ei"}))
        assert not (await gate.decide(request(name=f"job-{number}"), said)).allowed, "1000 cpus"
        small = Interpretation(one("1", **{"x.io/huge": "9E"}))
        assert (await gate.decide(request(name=f"small-{number}"), small)).allowed
    assert texts(await ledger.used("team-a"))["x.io/huge"] == "360E"
    assert (await gate.decide(request(name="more"), Interpretation(one("60")))).allowed
    assert not (await gate.decide(request(name="too-much"), Interpretation(one("1")))).allowed


@pytest.mark.parametrize("what", ["resource", "cluster", "priority class"])
async def test_a_name_longer_than_kubernetes_has_any_is_refused_and_not_an_outage(ledger: Ledger, what: str) -> None:
    gate = Gate(ledger, GivenQuotas([limit({"cpu": "100"})]))
    long = "x" * 5000
    request_of = {"cpu": "1", **({long: "1"} if what == "resource" else {})}
    needs = {"resourceRequest": request_of, "priorityClassName": long if what == "priority class" else ""}
    wire = [{"name": "main", "replicas": 1, "replicaRequirements": needs}]
    clusters = (long,) if what == "cluster" else ("m1",)
    verdict = await gate.decide(binding_request("CREATE", binding(components=wire, clusters=clusters)), None)
    assert not verdict.allowed
    assert f"the name of a {what}" in verdict.message.replace("component's ", "")
    assert (await gate.decide(request(name="after"), Interpretation(one("1")))).allowed


async def test_what_a_database_cannot_hold_fails_whose_it_is_and_nobody_who_shares_its_transaction(
    ledger: Ledger,
) -> None:
    gate = Gate(ledger, GivenQuotas())

    async def beyond_64_bits(page: Page) -> None:
        charge = bound(await page.charge(odd), demand(("main", 1, {"cpu": "1"}), clusters=("west",)))
        await page.save(replace(charge, generation=2**80))

    odd = WorkloadKey("g", "Kind", "odd", "one")
    good = [gate.decide(request(namespace=f"good-{number}"), Interpretation(one("1"))) for number in range(8)]
    bad = [ledger.submit(Task(odd, beyond_64_bits)) for _ in range(3)]
    answers = await asyncio.gather(*good[:4], *bad, *good[4:], return_exceptions=True)
    assert [isinstance(answer, Verdict) and answer.allowed for answer in answers] == [True] * 4 + [False] * 3 + [
        True
    ] * 4
    assert sorted(await ledger.totals()) == [f"good-{number}" for number in range(8)]
