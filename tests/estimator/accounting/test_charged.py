"""An audit of a ledger counts what the ledger charges, and says how much of it is provisional."""

from __future__ import annotations

import random
from pathlib import Path

from estimator.accounting.audit.assembly import build_report
from estimator.accounting.audit.charged import add_charge
from estimator.accounting.audit.totals import Tally
from estimator.accounting.demand import Demand, Part, PodRequest, Target, WorkloadKey
from estimator.accounting.ledger.charges import Charge, admitted, bound, one_set_usage
from estimator.accounting.ledger.ledger import Ledger
from estimator.quotas.amounts import NanoAmounts, texts, without_zeros
from tests.estimator.accounting.samples import demand, limit

FAR = 1e12


def random_demand(rng: random.Random) -> Demand:
    parts = []
    for i in range(rng.randint(1, 3)):
        request = {"cpu": f"{rng.randint(1, 9)}00m", "memory": f"{rng.randint(1, 9)}Mi"}
        parts.append(Part(f"c{i}", rng.randint(0, 3), PodRequest(request, rng.choice(["", "high"]))))
    clusters = [Target(f"m{i}") for i in range(rng.randint(0, 2))]
    return Demand(components=parts, clusters=clusters or None)


def random_charge(rng: random.Random, name: str) -> Charge:
    charge = Charge(WorkloadKey("batch", "Job", f"team-{rng.randint(0, 2)}", name))
    if rng.random() < 0.7:
        charge = bound(charge, random_demand(rng), uid="u")
    if rng.random() < 0.5 or not charge.is_live:
        charge = admitted(charge, random_demand(rng), None, uid="u", generation=1, expires_at=FAR)
    return charge


async def test_what_an_audit_of_a_ledger_counts_is_what_the_ledger_charges(tmp_path: Path) -> None:
    rng = random.Random(14)
    charges = [random_charge(rng, f"job-{number}") for number in range(300)]
    async with Ledger(str(tmp_path / "ledger.db"), clock=lambda: 0.0) as ledger:
        for charge in charges:
            async with ledger.page(charge.workload.namespace) as page:
                await page.save(charge)
        charged = await ledger.totals()
    tally = Tally(unscheduled_sets=1)
    for charge in charges:
        add_charge(tally, charge)
    assert {name: texts(without_zeros(page.used)) for name, page in tally.namespaces.items()} == {
        name: texts(without_zeros(amounts)) for name, amounts in charged.items()
    }
    for name, page in tally.namespaces.items():
        naive: NanoAmounts = {}
        for charge in charges:
            if charge.workload.namespace == name and charge.provisional is not None:
                before = one_set_usage(charge.confirmed)
                for resource, nano in charge.amounts.items():
                    seen = (
                        before.get(resource, 0) if not resource.startswith("count/") else nano * bool(charge.confirmed)
                    )
                    naive[resource] = naive.get(resource, 0) + nano - seen
        assert without_zeros(page.provisional or {}) == without_zeros(naive)


def test_a_quota_shows_the_provisional_part_of_what_is_used() -> None:
    tally = Tally(unscheduled_sets=1)
    seen = demand(("main", 2, {"cpu": "1"}), clusters=("m1",))
    add_charge(tally, bound(Charge(WorkloadKey("batch", "Job", "team-a", "there")), seen))
    coming = admitted(
        Charge(WorkloadKey("batch", "Job", "team-a", "new")), demand(("main", 1, {"cpu": "3"})), None, expires_at=FAR
    )
    add_charge(tally, coming)
    report = build_report(
        tally, [limit({"cpu": "10"}, staticAssignments=[{"clusterName": "m1", "hard": {"cpu": "4"}}])]
    )
    overall, in_cluster = report.namespaces[0].quotas
    assert (overall.lines[0].used, overall.lines[0].provisional) == ("5", "3")
    assert (in_cluster.lines[0].used, in_cluster.lines[0].provisional) == ("2", "0")
    assert report.totals.resources[0].provisional == "3"
