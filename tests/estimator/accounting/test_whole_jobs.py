"""Bindings that say neither replicas nor components: counted by their object's script wherever anything is counted, and
told of where nobody can count them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from estimator.accounting.admission.decide import Gate, Interpretation
from estimator.accounting.demand import WorkloadKey, binding_decoder, demand_of
from estimator.accounting.ledger.charges import Charge, filled
from estimator.accounting.ledger.ledger import Ledger
from estimator.accounting.podless_bindings import NOT_AT_HAND, Told, Untold
from estimator.accounting.reconcile import Reconciliation
from estimator.accounting.sources.quota_files import GivenQuotas
from estimator.quotas.amounts import texts
from tests.estimator.accounting.conftest import Clock
from tests.estimator.accounting.samples import binding, binding_request, component, demand, limit, one, request
from tests.interp.command import interp
from tests.webhook.api_server import ApiServer, api_server

JOBSET = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "namespace": "team-a", "name": "train"}
KEY = WorkloadKey("jobset.x-k8s.io", "JobSet", "team-a", "train")
ABOUT = "JobSet.jobset.x-k8s.io team-a/train"


def jobset(cpu: str = "2", **metadata: Any) -> dict[str, Any]:
    """Three pods."""
    pod = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}}]}
    job = {"parallelism": 3, "completions": 3, "template": {"spec": {**pod, "restartPolicy": "Never"}}}
    spec = {"replicatedJobs": [{"name": "workers", "replicas": 1, "template": {"spec": job}}]}
    return {"apiVersion": JOBSET["apiVersion"], "kind": "JobSet",
            "metadata": {"namespace": "team-a", "name": "train", **metadata}, "spec": spec}  # fmt: skip


def whole(*clusters: str, **resource: Any) -> dict[str, Any]:
    """The binding of a job that goes whole to its clusters, with the feature gate off."""
    return binding("train", clusters=clusters, resource={**JOBSET, **resource})


FILLED = [  # clusters of the binding, what the script says, what the ledger knows, parts and sets that count
    (("m1", "m2"), [3], [], 3, 2),
    (("m1", "m2"), None, [5], 5, 2),
    ((), [3], [5], 3, 0),
    (("m1",), None, [], 0, 1),
]


@pytest.mark.parametrize(("clusters", "told", "known", "pods", "sets"), FILLED)
def test_the_script_comes_before_the_ledger_and_each_cluster_has_one_set(
    clusters: tuple[str, ...], told: list[int] | None, known: list[int], pods: int, sets: int
) -> None:
    spec = binding_decoder.decode(json.dumps(whole(*clusters))).spec
    charge = (
        Charge(KEY, confirmed=demand(*(("w", replicas, {"cpu": "1"}) for replicas in known))) if known else Charge(KEY)
    )
    parts = None if told is None else demand_of([component("w", replicas) for replicas in told]).parts
    found = filled(spec.plain, charge, parts)
    assert (sum(part.replicas for part in found.parts), len(found.targets)) == (pods, sets)


async def admit(ledger: Ledger, obj: dict[str, Any], said: Interpretation | None, cpu: str = "100") -> Any:
    return await Gate(ledger, GivenQuotas([limit({"cpu": cpu})])).decide(binding_request("CREATE", obj), said)


async def test_admission_charges_what_the_script_says_in_each_cluster(ledger: Ledger) -> None:
    said = Interpretation(one("2", 3), tells_pods=True)
    refused = await admit(ledger, whole("m1", "m2"), said, cpu="11")
    assert "used 0, asked 12, limit 11" in refused.message
    assert (await admit(ledger, whole("m1", "m2"), said)).allowed
    assert texts(await ledger.used("team-a"))["cpu"] == "12"


async def test_admission_takes_what_was_admitted_when_nobody_is_asked(ledger: Ledger) -> None:
    kind = {"group": "jobset.x-k8s.io", "version": "v1alpha2", "kind": "JobSet"}
    door = Gate(ledger, GivenQuotas([]))
    await door.decide(request(name="train", kind=kind), Interpretation(one("2", 3)))
    assert not (await admit(ledger, whole("m1", "m2"), Interpretation(tells_pods=True))).warnings
    assert texts(await ledger.used("team-a"))["cpu"] == "12"


async def test_admission_warns_and_records_what_it_cannot_count(ledger: Ledger) -> None:
    verdict = await admit(ledger, whole("m1"), Interpretation(tells_pods=True))
    assert verdict.allowed
    assert verdict.warnings[0].startswith(f"{ABOUT}: its binding says no pods and the object was never admitted")
    (line,) = [line async for line in ledger.decisions()]
    assert "so it counts as nothing" in line.message


async def test_what_is_no_workload_is_not_warned_of(ledger: Ledger) -> None:
    assert not (await admit(ledger, whole("m1", kind="ConfigMap", apiVersion="v1"), None)).warnings


RECONCILED = [  # what the scripts tell, what is charged, what is said
    ({KEY: demand_of([component("w", 3, "2")])}, "12", ["added"]),
    ({KEY: NOT_AT_HAND}, "0", ["uncounted", "added"]),
    ({KEY: Untold("its script fails: no")}, "0", ["uncounted", "added"]),
    ({}, "0", ["added"]),
]


@pytest.mark.parametrize(("told", "cpu", "said"), RECONCILED)
async def test_a_reconcile_charges_the_same_and_tells_what_it_cannot(
    ledger: Ledger, clock: Clock, told: Told, cpu: str, said: list[str]
) -> None:
    async def objects(bindings: Any) -> Told:
        return told

    run = Reconciliation(ledger, clock.now, objects=objects)
    corrections = await run.take([binding_decoder.decode(json.dumps(whole("m1", "m2")))])
    assert sorted(found.what for found in corrections) == sorted(said)
    assert texts(await ledger.used("team-a")).get("cpu", "0") == cpu
    for found in corrections:
        if found.what == "uncounted":
            assert "says neither replicas nor components and its" in found.reason


async def test_a_reconcile_of_what_the_ledger_knows_needs_no_object(ledger: Ledger, clock: Clock) -> None:
    async with ledger.page("team-a") as page:
        await page.save(Charge(KEY, confirmed=demand(("w", 3, {"cpu": "2"}))))

    async def objects(bindings: Any) -> Told:
        return {KEY: NOT_AT_HAND}

    run = Reconciliation(ledger, clock.now + 60, objects=objects)
    (correction,) = await run.take([binding_decoder.decode(json.dumps(whole("m1", "m2")))])
    assert (correction.what, texts(await ledger.used("team-a"))["cpu"]) == ("changed", "12")


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    bindings, objects = tmp_path / "bindings.yaml", tmp_path / "objects.yaml"
    bindings.write_text(yaml.safe_dump(whole("m1", "m2")))
    objects.write_text(yaml.safe_dump(jobset()))
    return bindings, objects


def audited(*arguments: Any) -> tuple[dict[str, str], dict[str, str]]:
    """What the namespace uses, and the findings with what shows them."""
    ran = interp("audit", *arguments, "-o", "json", "--fail-on", "never")
    assert ran.code == 0, ran.err
    report = json.loads(ran.out)
    used = report["namespaces"][0]["used"]
    return used, {found["code"]: found["evidence"] for found in report["findings"]}


def test_the_verbs_count_it_alike_with_the_object(files: tuple[Path, Path], tmp_path: Path) -> None:
    bindings, objects = files
    used, found = audited("--bindings", bindings, "--workloads", objects)
    assert (used["cpu"], used["memory"], used["pods"], found) == ("12", "6Gi", "6", {})
    ran = interp("ledger", "reconcile", tmp_path / "ledger.db", "--bindings", bindings, "--workloads", objects)
    assert "cpu 0 → 12, memory 0 → 6Gi, pods 0 → 6" in ran.out
    assert audited("--ledger", tmp_path / "ledger.db")[0] == used


def test_the_verbs_tell_of_it_without(files: tuple[Path, Path], tmp_path: Path) -> None:
    bindings, _ = files
    said = "its binding says neither replicas nor components and its object is not at hand, so it counts as nothing"
    used, found = audited("--bindings", bindings)
    assert ("cpu" in used, found) == (False, {"uncounted": said})
    ran = interp("ledger", "reconcile", tmp_path / "ledger.db", "--bindings", bindings)
    assert f"uncounted {ABOUT}: {said}" in ran.out
    assert ran.err == "1 charge corrected, 1 could not be counted; give the objects with --workloads\n"
    assert ran.code == 1
    assert audited("--ledger", tmp_path / "ledger.db")[1] == {"uncounted": said}


def test_an_object_that_its_script_refuses_is_told_of(files: tuple[Path, Path], tmp_path: Path) -> None:
    bindings, objects = files
    objects.write_text(yaml.safe_dump(jobset("ten")))
    _, found = audited("--bindings", bindings, "--workloads", objects)
    assert set(found) == {"uncounted", "not-interpretable"}
    ran = interp("ledger", "reconcile", tmp_path / "ledger.db", "--bindings", bindings, "--workloads", objects)
    assert "and its script fails: " in ran.out
    assert ran.code == 1


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Iterator[Path]:
    with api_server(tmp_path) as file:
        ApiServer.held |= {
            "/apis/work.karmada.io/v1alpha2/resourcebindings": {"items": [whole("m1", "m2")]},
            "/apis/jobset.x-k8s.io/v1alpha2": {"resources": [{"name": "jobsets", "kind": "JobSet"}]},
            "/apis/jobset.x-k8s.io/v1alpha2/namespaces/team-a/jobsets/train": jobset(),
        }
        yield file


def test_a_live_karmada_has_the_object(kubeconfig: Path, tmp_path: Path) -> None:
    used, found = audited("--kubeconfig", kubeconfig)
    assert (used["cpu"], found) == ("12", {})
    ran = interp("ledger", "reconcile", tmp_path / "ledger.db", "--kubeconfig", kubeconfig)
    assert "cpu 0 → 12" in ran.out
    del ApiServer.held["/apis/jobset.x-k8s.io/v1alpha2/namespaces/team-a/jobsets/train"]
    assert list(audited("--kubeconfig", kubeconfig)[1]) == ["uncounted"]


PARENT = {"apiVersion": "x.io/v1", "kind": "Fleet", "name": "fleet", "controller": True}


def test_a_child_beside_its_owner_counts_and_the_audit_says_so(files: tuple[Path, Path], tmp_path: Path) -> None:
    bindings, objects = files
    fleet = {"apiVersion": "x.io/v1", "kind": "Fleet", "namespace": "team-a", "name": "fleet"}
    parent = binding("fleet", clusters=("m1",), resource=fleet,
                     components=[{"name": "c", "replicas": 1, "replicaRequirements": {
                         "resourceRequest": {"cpu": "1", "memory": "1Gi"}}}])  # fmt: skip
    objects.write_text(yaml.safe_dump(jobset(ownerReferences=[PARENT])))
    said = {"child-counted": "Fleet.x.io team-a/fleet controls it and is propagated as well; both are counted"}
    for texts_of, found in (([whole("m1", "m2")], {}), ([whole("m1", "m2"), parent], said)):
        bindings.write_text(yaml.safe_dump_all(texts_of))
        assert audited("--bindings", bindings, "--workloads", objects)[1] == found

    async def charge() -> None:
        kind = {"group": "jobset.x-k8s.io", "version": "v1alpha2", "kind": "JobSet"}
        async with Ledger(str(tmp_path / "ledger.db")) as ledger:
            door = Gate(ledger, GivenQuotas([]))
            await door.decide(
                request(kind=kind, obj=jobset(ownerReferences=[PARENT])), Interpretation(one("2", 3, memory="1Gi"))
            )
            await door.decide(binding_request("CREATE", parent), None)

    asyncio.run(charge())
    used, found = audited("--ledger", tmp_path / "ledger.db")
    assert (used["cpu"], found) == ("7", said)
