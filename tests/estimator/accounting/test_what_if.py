"""What changes would do is what an audit says once they are made, and nothing is written."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from estimator.accounting.audit.assembly import build_report
from estimator.accounting.audit.rendering import RENDERERS
from estimator.accounting.audit.report import AuditReport
from estimator.accounting.audit.totals import Tally
from estimator.accounting.audit.what_if import Changes
from estimator.accounting.demand import Binding, Demand, Part, PodRequest
from estimator.accounting.demand import binding_decoder as decoder
from estimator.quotas.objects import read_quota
from interpreters.core.errors import InputError
from tests.estimator.accounting.samples import binding, federated
from tests.interp.command import Ran, interp

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
BINDINGS, QUOTAS = EXAMPLES / "quota" / "bindings.yaml", EXAMPLES / "quota" / "quotas.yaml"
FLINK = (EXAMPLES / "flink.yaml").read_text()


def random_binding(rng: random.Random, number: int) -> Binding:
    parts = [
        {"name": f"c{i}", "replicas": rng.randint(0, 4), "replicaRequirements": {
            "resourceRequest": {"cpu": f"{rng.randint(1, 40)}00m", "memory": f"{rng.randint(1, 9)}Gi"}}}
        for i in range(rng.randint(1, 3))
    ]  # fmt: skip
    clusters = tuple(f"m{i}" for i in range(rng.randint(0, 3)))
    obj = binding(f"job-{number}", f"team-{number % 3}", components=parts, clusters=clusters)
    return decoder.decode(json.dumps(obj))


def random_quota(rng: random.Random, namespace: int) -> dict[str, Any]:
    assigned = [{"clusterName": "m1", "hard": {"cpu": str(rng.randint(1, 50))}}]
    overall = {"cpu": str(rng.randint(1, 300)), "memory": f"{rng.randint(1, 300)}Gi"}
    return federated(overall, f"team-{namespace}", staticAssignments=assigned)


def counted(bindings: list[Binding], **options: Any) -> Tally:
    tally = Tally(**options)
    for one in bindings:
        tally.add(one)
    return tally


def without_contributions(report: AuditReport) -> Any:
    return msgspec.to_builtins(report)["namespaces"], report.totals, report.counts


@pytest.mark.parametrize("seed", range(20))
def test_what_would_be_is_what_an_audit_of_the_changed_estate_says(seed: int) -> None:
    rng = random.Random(seed)
    estate = [random_binding(rng, number) for number in range(30)]
    quotas = [read_quota(random_quota(rng, namespace)) for namespace in range(3)]
    changed = [random_binding(rng, rng.randint(0, 40)) for _ in range(8)]
    by_workload = {one.workload: one for one in changed}
    new_quotas = [read_quota(random_quota(rng, namespace)) for namespace in (0, 1)]
    changes = Changes(bindings=by_workload, quotas=new_quotas)
    would = build_report(counted(estate, replaced=changes.names), quotas, what_if=changes)
    after = [one for one in estate if one.workload not in by_workload] + list(by_workload.values())
    assert without_contributions(would) == without_contributions(build_report(counted(after), [*new_quotas, quotas[2]]))
    before = build_report(counted(estate), quotas)
    lines = {
        (quota.title, line.key): line for page in before.namespaces for quota in page.quotas for line in quota.lines
    }
    assert would.what_if is not None
    for effect in would.what_if.effects:
        old = lines[effect.quota, effect.key]
        assert (effect.used_before, effect.limit_before) == (old.used, old.limit)
        assert (effect.used, effect.limit) != (old.used, old.limit)


def main_demand(replicas: int) -> Demand:
    return Demand(components=[Part("main", replicas, PodRequest({"cpu": "1"}))])


def test_a_workload_that_is_bound_stays_where_it_is_and_a_new_one_needs_a_number() -> None:
    old = decoder.decode(json.dumps(binding("job", components=[], replicas=4, clusters=(
        {"name": "m1", "replicas": 3}, {"name": "m2", "replicas": 1}),
        replicaRequirements={"resourceRequest": {"cpu": "1"}})))  # fmt: skip
    changes = Changes({old.workload: main_demand(8)})
    after = changes.binding(old.workload, [old])
    assert [(target.name, target.replicas) for target in after.spec.clusters or ()] == [("m1", 6), ("m2", 2)]
    with pytest.raises(InputError, match="is not bound yet: say in how many clusters it would run, with --clusters"):
        changes.binding(old.workload, [])
    placed = Changes({old.workload: main_demand(8)}, clusters=3).binding(old.workload, [])
    assert len(placed.spec.clusters or ()) == 3


def audit(*arguments: object) -> Ran:
    return interp("audit", "--bindings", BINDINGS, "--quotas", QUOTAS, "--top", "0", *arguments)


def folder(path: Path) -> Path:
    """A changed workload, a new one, a larger quota, and something that costs no quota."""
    made = path / "manifests"
    made.mkdir()
    (made / "a.yaml").write_text(FLINK.replace("parallelism: 4", "parallelism: 6"))
    (made / "b.yaml").write_text(FLINK.replace("wordcount", "orders"))
    (made / "c.yaml").write_text(yaml.safe_dump(federated({"cpu": "30", "memory": "40Gi"}, "streams")))
    (made / "d.yaml").write_text("apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: streams}\n")
    return made


@pytest.mark.parametrize("output", list(RENDERERS))
def test_a_whole_folder_is_weighed(output: str, tmp_path: Path) -> None:
    shown = audit("--with", folder(tmp_path), "--clusters", "2", "-o", output).out
    assert "streams/compute" in shown
    if output != "csv":
        assert "(changed) in 1 cluster: it adds cpu +2, memory +4 GiB, pods +1" in shown
        assert "(new) in 2 clusters: it adds cpu 10, memory 20 GiB, pods 6" in shown
        assert "cpu: 11 of 12 → " in shown
        assert "still over" not in shown


def test_a_ledger_is_asked_what_if_and_stays_as_it_is(tmp_path: Path) -> None:
    url = tmp_path / "ledger.db"
    assert interp("ledger", "reconcile", url, "--bindings", BINDINGS).code == 1
    before = interp("ledger", "show", url).out
    asked = ("audit", "--ledger", url, "--quotas", QUOTAS, "--with", folder(tmp_path), "--clusters", "2", "-o", "json")
    told = json.loads(interp(*asked).out)["whatIf"]
    assert {change["workload"].rpartition("/")[2]: change["change"] for change in told["changes"]} == {
        "wordcount": "changed", "orders": "new",
    }  # fmt: skip
    assert interp("ledger", "show", url).out == before


MISUSE = [
    ("a: b", ", object 1: object.apiVersion: expected"),
    (
        "apiVersion: v1\nkind: Service\nmetadata: {name: web}",
        "expected workloads that a script knows, bindings or quotas",
    ),
    (FLINK.replace("wordcount", "orders"), "is not bound yet: say in how many clusters"),
    (yaml.safe_dump(federated({"cpu": "many"})), 'spec.overall.cpu: "many" is not a quantity'),
]


@pytest.mark.parametrize(("text", "said"), MISUSE)
def test_what_cannot_be_weighed_is_refused_with_its_place(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "it.yaml").write_text(text)
    ran = audit("--with", tmp_path / "it.yaml")
    assert (ran.code, said in ran.err) == (2, True), ran.err
