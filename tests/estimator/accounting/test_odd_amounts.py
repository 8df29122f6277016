"""NanoAmounts that are none, or less than nothing: named with their component, and part of no sum and no ledger."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from estimator.accounting.admission.decide import Gate, Interpretation, Modes
from estimator.accounting.audit.assembly import build_report
from estimator.accounting.audit.totals import Tally
from estimator.accounting.demand import binding_decoder
from estimator.accounting.ledger.ledger import Ledger
from estimator.accounting.reconcile import Reconciliation
from estimator.accounting.sources.quota_files import GivenQuotas
from estimator.quotas.amounts import quantity, texts
from interpreters.core.quantity import NANO
from tests.estimator.accounting.conftest import Clock
from tests.estimator.accounting.samples import binding, binding_request, limit
from tests.interp.command import interp


def part(name: str, replicas: int, **request: Any) -> dict[str, Any]:
    return {"name": name, "replicas": replicas, "replicaRequirements": {"resourceRequest": request}}


GOOD = part("good", 2, cpu="1", memory="1Gi")
ODD: list[tuple[dict[str, Any], str, str]] = [  # the binding's spec, the finding, its words
    ({"components": [GOOD, part("bad", -3, cpu="1", memory="1Gi")]}, "negative", "component bad has -3 replicas"),
    ({"components": [GOOD, part("bad", 1, cpu="-2", memory="1Gi")]}, "negative", "component bad requests cpu: -2"),
    ({"components": [GOOD, part("bad", 1, cpu=-2, memory="1Gi")]}, "negative", "component bad requests cpu: -2"),
    ({"replicas": 4, "replicaRequirements": {"resourceRequest": {"cpu": "1", "memory": "1Gi"}},
      "clusters": [{"name": "m1", "replicas": -4}]}, "negative", "cluster m1 has -4 replicas"),
    ({"replicas": -4, "replicaRequirements": {"resourceRequest": {"cpu": "1", "memory": "1Gi"}}}, "negative",
     "component main has -4 replicas"),
    ({"components": [GOOD, part("bad", 1, cpu="ten", memory="1Gi")]}, "unreadable",
     'component bad requests cpu: "ten" is not a quantity'),
]  # fmt: skip


def odd_binding(spec: dict[str, Any]) -> dict[str, Any]:
    return binding("odd", **{"clusters": ("m1",), **spec})


@pytest.mark.parametrize(("spec", "code", "said"), ODD)
def test_an_audit_names_them(spec: dict[str, Any], code: str, said: str) -> None:
    tally = Tally()
    tally.add(binding_decoder.decode(json.dumps(odd_binding(spec))))
    first = tally.findings.listed()[0]
    assert (first.code, first.severity, first.evidence.startswith(said)) == (code, "error", True), first


def test_what_is_unreadable_is_part_of_no_sum_at_all() -> None:
    tally = Tally()
    tally.add(binding_decoder.decode(json.dumps(odd_binding(ODD[-1][0]))))
    page = tally.namespaces["team-a"]
    assert (tally.bindings, page.bindings) == (1, 1)
    assert (page.used, page.by_pod_class, page.by_cluster, page.components, page.workloads) == ({}, {}, {}, {}, {})


@pytest.mark.parametrize(("spec", "code", "said"), ODD)
async def test_a_reconcile_tells_and_leaves_them_out(
    ledger: Ledger, clock: Clock, spec: dict[str, Any], code: str, said: str
) -> None:
    run = Reconciliation(ledger, as_of=clock.now)
    (correction,) = await run.take([binding_decoder.decode(json.dumps(odd_binding(spec)))])
    assert (correction.what, correction.problem.startswith(said)) == ("unreadable", True)
    assert await ledger.used("team-a") == {}


@pytest.mark.parametrize(("spec", "code", "said"), ODD)
@pytest.mark.parametrize("mode", ["enforce", "warn"])
async def test_admission_refuses_them_and_charges_nothing(
    ledger: Ledger, spec: dict[str, Any], code: str, said: str, mode: Any
) -> None:
    gate = Gate(ledger, GivenQuotas([limit({"cpu": "100"})]), Modes(mode))
    verdict = await gate.decide(binding_request("CREATE", odd_binding(spec)), Interpretation())
    words = [verdict.message] if mode == "enforce" else list(verdict.warnings)
    assert (verdict.allowed, len(words)) == (mode == "warn", 1)
    assert said in words[0]
    assert await ledger.used("team-a") == {}


def test_reconcile_counts_what_it_corrected_apart_from_what_it_could_not_read(tmp_path: Path) -> None:
    good = [binding(f"job-{number}", components=[GOOD], clusters=("m1",)) for number in range(3)]
    file = tmp_path / "bindings.json"
    file.write_text(json.dumps({"kind": "List", "items": [*good, odd_binding(ODD[-1][0])]}))
    ran = interp("ledger", "reconcile", tmp_path / "ledger.db", "--bindings", file)
    assert (ran.code, ran.err) == (1, "3 charges corrected, 1 binding could not be read\n")


BYTES = [  # resource, nano-units, as it reads
    ("memory", 24_696_061_960_192 * NANO // 1000, "24696061961"),
    ("memory", 1, "1"),
    ("memory", -1500 * NANO // 1000, "-2"),
    ("requests.memory", 2 * 2**30 * NANO, "2Gi"),
    ("cpu", 1500 * NANO // 1000, "1500m"),
]


@pytest.mark.parametrize(("resource", "nano", "text"), BYTES)
def test_bytes_are_spelled_whole(resource: str, nano: int, text: str) -> None:
    assert str(quantity(resource, nano)) == text
    assert texts({resource: nano}) == {resource: text}


def test_the_advice_for_a_key_that_karmada_does_not_enforce_fits_the_key() -> None:
    quota = limit({"requests.cpu": "1", "pods": "1", "count/jobs.batch": "1", "cpu": "1"})
    found = {item.evidence.split()[0]: item.advice for item in build_report(Tally(), [quota]).findings}
    assert sorted(found) == ["count/jobs.batch", "pods", "requests.cpu"]
    assert found["requests.cpu"].startswith("name the resource itself")
    assert found["pods"] == found["count/jobs.batch"]
    assert found["pods"].startswith("limit it by a ResourceQuota in the member clusters")
