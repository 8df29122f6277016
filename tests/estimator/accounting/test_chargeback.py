"""What workloads cost: equal to a naive count, adding up whatever the breakdown, and exact in every format."""

from __future__ import annotations

import csv
import io
import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml

from estimator.accounting.chargeback.bill import COLUMNS, Bill, make_bill
from estimator.accounting.chargeback.cost_centres import Centres, Payers
from estimator.accounting.chargeback.meter import Meter, Period
from estimator.accounting.chargeback.parquet import write_parquet
from estimator.accounting.chargeback.prices import PriceList, read_prices
from estimator.accounting.chargeback.rendering import money, render_csv, render_text
from estimator.accounting.demand import Demand, Part, PodRequest, Target, WorkloadKey
from estimator.quotas.amounts import nano_of
from interpreters.core.errors import DocumentError
from interpreters.core.quantity import NANO
from tests.estimator.accounting.samples import binding, demand
from tests.interp.command import interp

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples" / "quota"
PRICES: list[dict[str, Any]] = [
    {"resource": "cpu", "price": "0.031"},
    {"resource": "cpu", "price": "0.02", "cluster": "m1"},
    {"resource": "cpu", "price": "0.007", "priorityClass": "spot"},
    {"resource": "cpu", "price": 0.001, "cluster": "m1", "priorityClass": "spot"},
    {"resource": "memory", "price": "0.0033"},
    {"resource": "x.io/gpu", "price": 2, "per": 1},
]
WORKLOAD = WorkloadKey("batch", "Job", "team-a", "sums")


def price_file(folder: Path, prices: Any = PRICES, **more: Any) -> Path:
    path = folder / "prices.yaml"
    path.write_text(yaml.safe_dump({"currency": "EUR", "prices": prices, **more}))
    return path


def price_list(folder: Path, **more: Any) -> PriceList:
    return read_prices(price_file(folder, **more))


def random_demand(rng: random.Random) -> Demand:
    def pod() -> PodRequest:
        request = {"cpu": f"{rng.randint(0, 5000)}m", "memory": f"{rng.randint(0, 10**10)}"}
        return PodRequest(request | ({"x.io/gpu": "1"} if rng.random() < 0.2 else {}), rng.choice(["", "spot"]))

    if rng.random() < 0.5:
        parts = [Part(f"c{i}", rng.randint(0, 4), pod()) for i in range(rng.randint(1, 3))]
        return Demand(components=parts, clusters=[Target(f"m{i}") for i in range(rng.randint(0, 3))])
    targets = [Target(f"m{i}", rng.randint(0, 4)) for i in range(rng.randint(0, 3))]
    return Demand(replicas=sum(t.replicas for t in targets), replica_requirements=pod(), clusters=targets)


def naive_price(resource: str, cluster: str, priority: str) -> Fraction:
    """Of one unit for an hour; of a byte for memory."""
    if resource == "memory":
        return Fraction("0.0033") / 2**30
    if resource == "x.io/gpu":
        return Fraction(2)
    table = {(True, True): "0.001", (True, False): "0.02", (False, True): "0.007", (False, False): "0.031"}
    return Fraction(table[cluster == "m1", priority == "spot"])


def naive_cost(jobs: list[tuple[Demand, int]]) -> Fraction:
    total = Fraction(0)
    for job, seconds in jobs:
        for target in job.clusters or ():
            for part in job.parts:
                pods = part.replicas if job.components else target.replicas
                for resource, text in part.request.items():
                    price = naive_price(resource, target.name, part.priority_class)
                    total += Fraction(nano_of(text), NANO) * pods * Fraction(seconds, 3600) * price
    return total


@pytest.mark.parametrize("seed", range(5))
def test_a_bill_is_what_a_naive_count_gives_and_adds_up_by_whatever_it_is_broken_down(
    seed: int, tmp_path: Path
) -> None:
    rng = random.Random(seed)
    prices = price_list(tmp_path)
    meter, period = Meter(Payers(prices.centres)), Period(0, 10**6)
    jobs = [(random_demand(rng), rng.randint(1, 10**6)) for _ in range(200)]
    for number, (job, seconds) in enumerate(jobs):
        meter.add(WorkloadKey("batch", "Job", f"team-{number % 3}", f"job-{number}"), job, seconds)
    bills = [make_bill(meter, prices, period, by) for by in COLUMNS]
    cells = sum(len(used) for used in meter.used.values())
    assert {bill.total for bill in bills} == {bills[0].total}
    assert abs(bills[0].total - naive_cost(jobs) * 10**6) <= Fraction(cells, 2), "each cell is rounded once"
    assert len(bills[-1].rows) == len(meter.used), "every row"


WRONG: list[tuple[Any, str]] = [
    ({"currency": "EUR"}, "prices: expected a value, got nothing"),
    ({"currency": "euro", "prices": PRICES}, 'currency: expected three capital letters such as EUR, got "euro"'),
    ({"currency": "EUR", "prices": []}, "prices: expected at least one price, got an empty list"),
    ({"currency": "EUR", "prices": [{"resource": "cpu", "prize": 1}]},
     "prices[0].prize: there is no such field; a price file has resource, price, per, cluster, priorityClass there"),
    ({"currency": "EUR", "prices": [{"price": 1}]}, "prices[0].resource: expected a value, got nothing"),
    ({"currency": "EUR", "prices": [{"resource": "cpu", "price": [1]}]},
     "prices[0].price: expected a whole number or a number or text, got a list"),
    ({"currency": "EUR", "prices": [{"resource": "cpu", "price": "cheap"}]},
     'prices[0].price: expected a price of an hour from 0 up, such as "0.031", got "cheap"'),
    ({"currency": "EUR", "prices": [{"resource": "cpu", "price": "-1"}]},
     'prices[0].price: expected a price of an hour from 0 up, such as "0.031", got "-1"'),
    ({"currency": "EUR", "prices": [{"resource": "cpu", "price": "1e999999"}]},
     'prices[0].price: expected a price of an hour from 0 up, such as "0.031", got "1e999999"'),
    ({"currency": "EUR", "prices": [{"resource": "cpu", "price": 1, "per": "0"}]},
     'prices[0].per: expected an amount above 0 such as 1 or 1Gi, got "0"'),
    ({"currency": "EUR", "prices": [{"resource": "cpu", "price": 1, "per": "GiB"}]}, 'prices[0].per: "GiB" is not a'),
    ({"currency": "EUR", "prices": [{"resource": "cpu", "price": 1}] * 2},
     "prices[1]: expected one price for each case, got a second one beside prices[0]"),
    ({"currency": "EUR", "prices": PRICES, "costCentres": {"namespaces": {"a": ""}}},
     'costCentres.namespaces["a"]: expected a name, got ""'),
    ({"currency": "EUR", "prices": PRICES, "costCentres": {"label": 7}}, "costCentres.label: expected text, got a"),
    ([], "expected an object, got a list"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "said"), WRONG, ids=[said[:40] for _, said in WRONG])
def test_a_wrong_price_file_is_refused_with_field_expected_and_got(content: Any, said: str, tmp_path: Path) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text(yaml.safe_dump(content))
    with pytest.raises(DocumentError) as caught:
        read_prices(path)
    assert str(caught.value).startswith(f"{path}: {said}")


def test_a_cost_centre_is_found_by_the_nearest_mark_and_else_by_the_map() -> None:
    centres = Centres(label="team", annotation="pay", namespaces={"a*": "short", "abc*": "long", "abcd": "own"})
    payers = Payers(centres)
    objects = [
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": "j", "namespace": "a", "labels": {"team": "job"}},
        },
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a", "annotations": {"pay": "space"}}},
    ]
    payers.learn(("f", json.dumps(obj).encode()) for obj in objects)

    def of(namespace: str, name: str = "other", **marks: dict[str, str]) -> str:
        return payers.of(WorkloadKey("batch", "Job", namespace, name), marks.get("labels"), marks.get("annotations"))

    assert of("a", "j", labels={"team": "binding"}) == "job"
    assert of("a", labels={"team": "binding"}, annotations={"pay": "less"}) == "binding"
    assert of("a", annotations={"pay": "binding"}) == "binding"
    assert [of("a"), of("ab"), of("abcx"), of("abcd"), of("z")] == ["space", "short", "long", "own", "unassigned"]


def bill(folder: Path, by: str = "component") -> Bill:
    prices = price_list(folder)
    meter = Meter(Payers(prices.centres))
    pods = demand(("=main", 3, {"cpu": "1500m", "memory": "1Gi", "x.io/fpga": "1"}), clusters=("m1", "m2"))
    meter.add(WORKLOAD, pods, 5400)
    return make_bill(meter, prices, Period(0, 5400), by)


def test_csv_has_one_number_in_one_unit_per_column(tmp_path: Path) -> None:
    rows = list(csv.DictReader(io.StringIO("".join(render_csv(bill(tmp_path))))))
    assert [
        (row["cluster"], row["cpu_core_seconds"], row["memory_byte_seconds"], row["cpu_cost_EUR"]) for row in rows
    ] == [
        ("m2", "24300", str(3 * 5400 * 2**30), "0.209250"),
        ("m1", "24300", str(3 * 5400 * 2**30), "0.135000"),
    ]
    assert rows[0]["component"] == "'=main", "no spreadsheet takes a name for a formula"


def test_what_has_no_price_is_said(tmp_path: Path) -> None:
    assert bill(tmp_path).notes == ["no price for x.io/fpga; what used it is cheaper here than it was"]


def test_parquet_holds_the_same_exact_numbers(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    for by in COLUMNS:
        file = io.BytesIO()
        write_parquet(bill(tmp_path, by), file)
        read = parquet.read_table(io.BytesIO(file.getvalue())).to_pylist()
        written = list(csv.DictReader(io.StringIO("".join(render_csv(bill(tmp_path, by))))))
        assert [str(row["cost_EUR"]) for row in read] == [row["cost_EUR"] for row in written]
        assert [int(row["memory_byte_seconds"]) for row in read] == [int(row["memory_byte_seconds"]) for row in written]


@pytest.mark.parametrize(
    ("amount", "decimals", "text"), [(1234567, 6, "1.234567"), (1235000, 2, "1.24"), (5, 2, "0.00")]
)
def test_money_is_rounded_only_where_it_is_read(amount: int, decimals: int, text: str) -> None:
    assert money(amount, decimals) == text


def test_names_cannot_steer_the_terminal(tmp_path: Path) -> None:
    prices = price_list(tmp_path)
    meter = Meter(Payers(prices.centres))
    meter.add(WORKLOAD._replace(name="\x1b[2J"), demand(("main", 1, {"cpu": "1"}), clusters=("m1",)), 60)
    assert "\x1b" not in "\n".join(render_text(make_bill(meter, prices, Period(0, 60), "workload")))


PERIOD = ("--from", "2026-10-01T00:00:00Z", "--to", "2026-10-02T00:00:00Z")


def cost(*arguments: object) -> dict[str, Any]:
    ran = interp("cost", "--prices", EXAMPLES / "prices.yaml", *arguments, "-o", "json")
    assert ran.code == 0, ran.err
    return dict(json.loads(ran.out))


def test_a_binding_costs_from_its_creation_on_and_a_snapshot_until_the_next(tmp_path: Path) -> None:
    pods = [{"name": "main", "replicas": 1, "replicaRequirements": {"resourceRequest": {"cpu": "1"}}}]
    young, old = binding("young", components=pods, clusters=("m1",)), binding("old", components=pods, clusters=("m1",))
    young["metadata"]["creationTimestamp"] = "2026-10-01T18:00:00Z"
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    one.write_text(json.dumps([young, old]))
    two.write_text(json.dumps([old]))
    assert cost("--bindings", one, *PERIOD)["total"] == "0.930000", "24 and 6 hours at 0.031"
    snapshots = ("--snapshot", "2026-10-01T12:00:00Z", two, "--snapshot", "2026-10-01T00:00:00Z", one)
    assert cost(*snapshots, "--to", "2026-10-02T00:00:00Z")["total"] == "0.744000", "gone before it came"


def test_a_ledger_is_priced_by_what_it_has_seen(tmp_path: Path) -> None:
    url = tmp_path / "ledger.db"
    assert interp("ledger", "reconcile", url, "--bindings", EXAMPLES / "bindings.yaml").code == 1
    from_files = cost("--bindings", EXAMPLES / "bindings.yaml", *PERIOD, "--by", "component")
    charged = cost("--ledger", url, *PERIOD, "--by", "component")
    bases = [bill.pop("basis").partition(",")[0] for bill in (charged, from_files)]
    assert (charged, bases) == (from_files, ["the charges of now", "one snapshot"])


MISUSE = [
    ((), "say where the bindings are"),
    (("--bindings", EXAMPLES / "bindings.yaml"), "say when the period begins"),
    (("--bindings", EXAMPLES / "bindings.yaml", "--from", "yesterday"), '12:00:00Z, got "yesterday"'),
    (("--bindings", EXAMPLES / "bindings.yaml", "--from", "2026-10-02", "--to", "2026-10-01"), "ends before it begins"),
    (("--bindings", EXAMPLES / "quotas.yaml", "--from", "2026-10-01"), "no bindings in it"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "said"), MISUSE)
def test_misuse_ends_with_2_and_a_reason(arguments: tuple[object, ...], said: str) -> None:
    ran = interp("cost", "--prices", EXAMPLES / "prices.yaml", *arguments)
    assert (ran.code, said in ran.err) == (2, True), ran.err
