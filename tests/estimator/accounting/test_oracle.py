"""Three thousand random bindings of every shape, recomputed by an oracle that shares no code with the ledger.

The oracle works on plain JSON with exact fractions and the rules as a person would read them; the ledger is fed the
same bindings one by one through admission and, in another run, through a reconcile.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from fractions import Fraction
from typing import Any

import pytest

from estimator.accounting.admission.decide import Gate, Interpretation
from estimator.accounting.audit.totals import Tally
from estimator.accounting.demand import binding_decoder
from estimator.accounting.ledger.ledger import Ledger
from estimator.accounting.ledger.sums import amounts_of
from estimator.accounting.reconcile import Reconciliation
from estimator.accounting.sources.quota_files import GivenQuotas
from tests.estimator.accounting.samples import binding, binding_request

COUNT = 3000
SIZES = {"": Fraction(1), "m": Fraction(1, 1000), "k": Fraction(1000), "Ki": Fraction(1024), "Mi": Fraction(1024**2),
         "Gi": Fraction(1024**3), "E": Fraction(10**18), "u": Fraction(1, 10**6)}  # fmt: skip
NANO = 10**9


def amount(dice: random.Random) -> str:
    return f"{dice.randint(0, 9)}{dice.choice(list(SIZES))}"


def value(text: str) -> Fraction:
    unit = text.lstrip("0123456789")
    return int(text.removesuffix(unit)) * SIZES[unit]


def needs(dice: random.Random) -> dict[str, Any]:
    names = dice.sample(["cpu", "memory", "example.org/gpu", "ephemeral-storage"], dice.randint(0, 4))
    priority = dice.choice(["", "high", "low"])
    return {"resourceRequest": {name: amount(dice) for name in names}, "priorityClassName": priority}


def spec(dice: random.Random) -> dict[str, Any]:
    shape = dice.choice(["components", "replicas", "neither", "both"])
    targets = dice.sample(["m1", "m2", "m3", "m4"], dice.randint(0, 4))
    made: dict[str, Any] = {"clusters": [{"name": name, "replicas": dice.randint(0, 5)} for name in targets]}
    if shape in ("components", "both"):
        made["components"] = [
            {"name": f"part-{number}", "replicas": dice.randint(0, 5),
             **({"replicaRequirements": needs(dice)} if dice.random() < 0.9 else {})}
            for number in range(dice.randint(1, 3))
        ]  # fmt: skip
    if shape in ("replicas", "both"):
        made |= {"replicas": dice.randint(0, 9), "replicaRequirements": needs(dice)}
    return made


def pods_of(made: dict[str, Any], unscheduled_sets: int) -> list[tuple[str, str, int, dict[str, str]]]:
    """Cluster, priority class, pods and what each requests. A binding without clusters is in the cluster ''."""
    clusters = made["clusters"]
    found = []
    for target in clusters or [{"name": "", "replicas": None}] * unscheduled_sets:
        parts = made.get("components") or [
            {"replicas": made.get("replicas", 0) if target["replicas"] is None else target["replicas"],
             "replicaRequirements": made.get("replicaRequirements", {})}
        ]  # fmt: skip
        for part in parts:
            about = part.get("replicaRequirements", {})
            found.append(
                (target["name"], about.get("priorityClassName", ""), part["replicas"], about.get("resourceRequest", {}))
            )
    return found


Sums = dict[tuple[str, str, str], dict[str, int]]


def oracle(bindings: list[tuple[str, dict[str, Any]]], *, unscheduled_sets: int) -> Sums:
    """Nano-units by (namespace, dimension, value) and resource; nothing is left out, zeros are."""
    sums: dict[tuple[str, str, str], dict[str, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    for namespace, made in bindings:
        sums[namespace, "all", ""]["count/flinkdeployments.flink.apache.org"] += 1
        tells_pods = made.get("components") or made.get("replicas") or "replicaRequirements" in made
        for cluster, priority, pods, request in pods_of(made, unscheduled_sets) if tells_pods else ():
            best_effort = not any(value(request.get(resource, "0")) > 0 for resource in ("cpu", "memory"))
            pod = ("best-effort" if best_effort else "priority", priority)
            places = [("all", ""), pod, *([("cluster", cluster)] if cluster else [])]
            for dimension, name in places:
                sums[namespace, dimension, name]["pods"] += pods
                for resource, text in request.items():
                    sums[namespace, dimension, name][resource] += pods * value(text)
    exact = {
        key: {resource: int(total * NANO) for resource, total in found.items() if total} for key, found in sums.items()
    }
    return {key: found for key, found in exact.items() if found}


def made_up(seed: int) -> list[tuple[str, str, dict[str, Any]]]:
    dice = random.Random(seed)
    return [(f"team-{dice.randint(0, 4)}", f"job-{number}", spec(dice)) for number in range(COUNT)]


async def kept(ledger: Ledger) -> Sums:
    found: Sums = {}
    for namespace in await ledger.namespaces():
        async with ledger.page(namespace, read_only=True) as page:
            sums = await page.all_sums()
        for dimension in ("all", "cluster", "priority", "best-effort"):
            for name, amounts in amounts_of(sums, dimension).items():
                found[namespace, dimension, name] = amounts
    return found


@pytest.mark.parametrize("way", ["reconcile", "admission"])
async def test_the_ledger_keeps_the_sums_that_the_oracle_counts(ledger: Ledger, way: str) -> None:
    made = made_up(1)
    objects = [binding(name, namespace, **given) for namespace, name, given in made]
    if way == "reconcile":
        run = Reconciliation(ledger, None)
        for start in range(0, COUNT, 500):
            await run.take([binding_decoder.decode(json.dumps(one)) for one in objects[start : start + 500]])
    else:
        gate, dice = Gate(ledger, GivenQuotas()), random.Random(2)
        for number, obj in enumerate(objects[:300]):
            assert (await gate.decide(binding_request("CREATE", obj), None)).allowed
            tells_pods = {"components", "replicas"} & made[number][2].keys()
            if tells_pods and dice.random() < 0.3:  # changed, and changed back: nothing of it may stay in a sum
                other = binding(made[number][1], made[number][0], **spec(dice))
                await gate.decide(binding_request("UPDATE", other, obj), Interpretation())
                await gate.decide(binding_request("UPDATE", obj, other), Interpretation())
        made = made[:300]
    assert await kept(ledger) == oracle([(namespace, given) for namespace, _, given in made], unscheduled_sets=1)


def test_the_audit_counts_what_the_oracle_counts() -> None:
    tally = Tally()
    made = made_up(3)
    for namespace, name, given in made:
        tally.add(binding_decoder.decode(json.dumps(binding(name, namespace, **given))))
    wanted = oracle([(namespace, given) for namespace, _, given in made], unscheduled_sets=0)
    for namespace, page in tally.namespaces.items():
        assert {name: nano for name, nano in page.used.items() if nano} == wanted[namespace, "all", ""]
        for cluster, amounts in page.by_cluster.items():
            found = {name: nano for name, nano in amounts.items() if nano}
            assert found == wanted.get((namespace, "cluster", cluster), {})
        for (priority, best_effort), amounts in page.by_pod_class.items():
            found = {name: nano for name, nano in amounts.items() if nano}
            assert found == wanted.get((namespace, "best-effort" if best_effort else "priority", priority), {})
