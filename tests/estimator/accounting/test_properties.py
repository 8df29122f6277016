"""Sums over parts equal the whole, order does not matter, and replays change nothing: whatever the bindings are."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimator.accounting.audit.assembly import build_report
from estimator.accounting.audit.totals import Tally
from estimator.accounting.demand import Binding, Demand, Part, PodRequest, ResourceReference, Target, charge_binding
from estimator.accounting.demand import WorkloadKey as Key
from estimator.accounting.ledger.charges import Charge
from estimator.accounting.ledger.ledger import Ledger
from estimator.accounting.usage import (
    PODS,
    binding_usage,
    counted_usage,
    shares,
    usage,
    usage_by_cluster,
)
from estimator.quotas.amounts import NanoAmounts, no_amounts, parse_amounts, total_of, without_zeros
from interpreters.core.quantity import NANO
from tests.estimator.accounting.samples import book

AMOUNTS = st.dictionaries(
    st.sampled_from(["cpu", "memory", "nvidia.com/gpu"]),
    st.sampled_from(["0", "1", "250m", "1500m", "1Gi", "512M", "3", "0.1", "1e3", "9E"]),
)
REQUESTS = st.builds(PodRequest, AMOUNTS, st.sampled_from(["", "high"]))
PARTS = st.builds(Part, st.sampled_from(["a", "b", "c"]), st.integers(0, 9), st.none() | REQUESTS)
TARGETS = st.lists(st.builds(Target, st.sampled_from(["m1", "m2", "m3"]), st.integers(0, 9)), max_size=3,
                   unique_by=lambda target: target.name)  # fmt: skip
WITH_COMPONENTS = st.builds(Demand, components=st.lists(PARTS, min_size=1, max_size=3), clusters=TARGETS)
WITH_REPLICAS = st.builds(
    Demand, replicas=st.integers(0, 9), replica_requirements=st.none() | REQUESTS, clusters=TARGETS
)
DEMANDS = WITH_COMPONENTS | WITH_REPLICAS
KEYS = st.builds(Key, st.just("x.io"), st.sampled_from(["Job", "Fleet"]), st.sampled_from(["n1", "n2"]),
                 st.sampled_from(["a", "b", "c"]))  # fmt: skip
BINDINGS = st.lists(st.tuples(KEYS, DEMANDS), max_size=8)


def legacy_usage(demand: Demand) -> NanoAmounts:
    """The older accounting: every pod is charged as the largest one. Never less than `usage`."""
    largest = no_amounts()
    pods = 0
    for share in shares(demand):
        if not share.pods:
            continue
        pods += share.pods
        for resource, nano in parse_amounts(share.part.request).items():
            largest[resource] = max(largest.get(resource, 0), nano)
    return without_zeros({resource: nano * pods for resource, nano in largest.items()})


@given(DEMANDS)
def test_clusters_components_and_the_whole_agree(demand: Demand) -> None:
    whole = counted_usage(demand)
    by_component = total_of(share.amounts for share in shares(demand))
    assert without_zeros(by_component) == {name: nano for name, nano in whole.items() if name != PODS}
    assert sum(share.pods for share in shares(demand)) * NANO == whole.get(PODS, 0)
    assert total_of(usage_by_cluster(demand).values()) == whole


@given(DEMANDS)
def test_the_older_accounting_is_never_cheaper(demand: Demand) -> None:
    ours, older = usage(demand), legacy_usage(demand)
    assert all(older[resource] >= nano for resource, nano in ours.items())


@given(DEMANDS)
def test_exact_sums_and_quantities_say_the_same(demand: Demand) -> None:
    binding = {"spec": {**msgspec.to_builtins(demand)}}
    assert {name: amount.nano for name, amount in binding_usage(binding).items()} == usage(demand)


def tally_of(bindings: list[Binding]) -> Tally:
    tally = Tally(most=2)
    for binding in bindings:
        tally.add(binding)
    return tally


@settings(deadline=None)
@given(BINDINGS, st.randoms(use_true_random=False))
def test_a_report_is_the_same_in_any_order(found: list[tuple[Key, Demand]], order: random.Random) -> None:
    bindings = [charge_binding(key, demand) for key, demand in found]
    report = build_report(tally_of(bindings), [])
    order.shuffle(bindings)
    assert build_report(tally_of(bindings), []) == report


@given(BINDINGS)
def test_a_tally_adds_up_what_each_binding_uses(found: list[tuple[Key, Demand]]) -> None:
    tally = tally_of([charge_binding(key, demand) for key, demand in found])
    for namespace, page in tally.namespaces.items():
        mine = [demand for key, demand in found if key.namespace == namespace]
        counted = {name: nano for name, nano in without_zeros(page.used).items() if not name.startswith("count/")}
        assert counted == without_zeros(total_of(counted_usage(demand) for demand in mine))
        assert without_zeros(page.legacy) == without_zeros(total_of(legacy_usage(demand) for demand in mine))
        clusters = total_of(total_of(usage_by_cluster(demand).values()) for demand in mine)
        assert without_zeros(total_of(page.by_cluster.values())) == without_zeros(clusters)
        assert without_zeros(total_of(page.by_pod_class.values())) == counted


EVENTS = st.lists(st.tuples(st.sampled_from(["see", "bind", "forget"]), KEYS, DEMANDS), max_size=6)


@settings(max_examples=25, deadline=None)
@given(EVENTS)
def test_the_ledger_holds_the_last_state_however_often_it_is_told(
    tmp_path_factory: pytest.TempPathFactory, events: list[tuple[str, Key, Demand]]
) -> None:
    async def told(path: Path, times: int) -> dict[str, dict[str, int]]:
        async with Ledger(str(path)) as ledger:
            for what, key, demand in events:
                for _ in range(times):
                    if what == "see":
                        async with ledger.page(key.namespace) as page:
                            used = await page.used()
                            await page.sight(key, Demand(components=demand.parts), uid="u")
                            assert await page.used() == used, "a question costs nothing"
                    elif what == "bind":
                        await book(ledger, key, demand)
                    else:
                        async with ledger.page(key.namespace) as page:
                            await page.save(Charge(key))
            sums = {}
            for namespace in ("n1", "n2"):
                async with ledger.page(namespace) as page:
                    sums[namespace] = await page.used()
                assert without_zeros(sums[namespace]) == without_zeros(await ledger.used(namespace))
            return sums

    folder = tmp_path_factory.mktemp("ledger")
    assert asyncio.run(told(folder / "once.db", 1)) == asyncio.run(told(folder / "twice.db", 2))


def test_a_reference_without_a_version_has_no_group() -> None:
    spec = msgspec.structs.replace(Binding().spec, resource=ResourceReference("v1", "Pod", "n", "p"))
    assert Binding(spec=spec).workload == Key("", "Pod", "n", "p")
