"""Where a status differs from the bindings, the audit says which of them make the difference, and why."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from estimator.accounting.audit.assembly import build_report
from estimator.accounting.audit.drift import Cause, Contribution, Contributions, causes_of, explained
from estimator.accounting.audit.rendering import RENDERERS
from estimator.accounting.audit.report import AuditReport
from estimator.accounting.audit.totals import Tally
from estimator.accounting.demand import Part, PodRequest, demand_of
from estimator.accounting.demand import binding_decoder as decoder
from estimator.quotas.amounts import NanoAmounts, total_of, without_zeros
from estimator.quotas.objects import Quota, read_quota
from tests.estimator.accounting.samples import binding, component, federated

OVERALL = {"cpu": "100", "memory": "100Gi"}
WHO = "FlinkDeployment.flink.apache.org team-a/"


def pods(replicas: int, cpu: str = "1", memory: str = "1Gi") -> list[dict[str, Any]]:
    needs = {"resourceRequest": {"cpu": cpu, "memory": memory}}
    return [{"name": "main", "replicas": replicas, "replicaRequirements": needs}]


def quota(used: dict[str, str] | None, *members: dict[str, str], **spec: Any) -> Quota:
    aggregated = [{"clusterName": f"m{i}", "used": part} for i, part in enumerate(members, 1)]
    status: dict[str, Any] = {"overall": OVERALL, "aggregatedStatus": aggregated}
    return read_quota(federated(OVERALL, **spec) | {"status": status | ({} if used is None else {"overallUsed": used})})


def audit(*bindings: dict[str, Any], quotas: tuple[Quota, ...] = (), **options: Any) -> AuditReport:
    tally = Tally(**options)
    for obj in bindings:
        tally.add(decoder.decode(json.dumps(obj)))
    return build_report(tally, quotas)


def evidence(report: AuditReport, code: str) -> list[str]:
    return [found.evidence for found in report.findings if found.code == code]


SMALL, LARGE = (
    binding("small", components=pods(2), clusters=("m1",)),
    binding("large", components=pods(7), clusters=("m1",)),
)
EVICTED = binding(
    "moved", components=pods(3, "2"), clusters=("m1",), gracefulEvictionTasks=[{"fromCluster": "m2", "producer": "x"}]
)
WAITING = binding("waiting", components=pods(4, "3"))
CAUSES = [
    ("one is missing", [SMALL, LARGE], {"cpu": "7", "memory": "7Gi"}, f"the status lacks {WHO}small"),
    ("one is there twice", [SMALL, LARGE], {"cpu": "11", "memory": "11Gi"}, f"the status has {WHO}small twice"),
    ("both are missing", [SMALL, LARGE], {}, f"the status lacks {WHO}small and the status lacks {WHO}large"),
    ("evicted", [LARGE, EVICTED], {"cpu": "19", "memory": "13Gi"},
     f"the status still counts {WHO}moved in m2, which it is evicted from"),
    ("no cluster any more", [SMALL, WAITING], {"cpu": "14", "memory": "6Gi"},
     f"the status still counts {WHO}waiting, which has no cluster any more"),
    ("something else", [SMALL, LARGE], {"cpu": "8", "memory": "1Gi"}, "no one or two bindings make the difference"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "bindings", "said", "why"), CAUSES, ids=[case[0] for case in CAUSES])
def test_the_bindings_behind_a_difference_are_named(
    name: str, bindings: list[Any], said: dict[str, str], why: str
) -> None:
    found = evidence(audit(*bindings, quotas=(quota(said),)), "reported-wrong")
    assert found
    assert all(text.endswith(f": {why}") for text in found), found


def test_a_whole_job_that_karmada_does_not_count_is_named() -> None:
    untold = binding("whole", clusters=("m1",))
    known = {f"{WHO}whole": demand_of([component("main", 5, "1", memory="1Gi")])}
    (found, _) = evidence(
        audit(SMALL, untold, quotas=(quota({"cpu": "2", "memory": "2Gi"}),), known=known), "reported-wrong"
    )
    assert found.endswith(f": Karmada counts nothing for {WHO}whole, whose binding says no pods")


def test_too_many_bindings_to_tell_are_said() -> None:
    report = audit(SMALL, LARGE, quotas=(quota({"cpu": "7", "memory": "7Gi"}),), contributions=Contributions(most=1))
    assert evidence(report, "reported-wrong")[0].endswith(
        "there are too many bindings to tell which make the difference"
    )


def random_amounts(rng: random.Random) -> NanoAmounts:
    return {"cpu": rng.randint(0, 50), "memory": rng.randint(0, 50)}


@pytest.mark.parametrize("seed", range(30))
def test_what_explains_a_difference_adds_up_to_it_and_is_found_whenever_one_or_two_do(seed: int) -> None:
    rng = random.Random(seed)
    every = [Contribution(f"job-{i}", random_amounts(rng), rng.random() < 0.9) for i in range(rng.randint(1, 12))]
    causes = list(causes_of(every))
    for count in (1, 2):
        if len(causes) >= count:
            difference = total_of(cause.amounts for cause in rng.sample(causes, count))
            difference = {name: difference.get(name, 0) for name in ("cpu", "memory")}
            found = explained(difference, causes)
            assert bool(found) == bool(without_zeros(difference))
            if found:
                assert without_zeros(total_of(cause.amounts for cause in found)) == without_zeros(difference)
    naive = {tuple(total_of([a.amounts, b.amounts]).get(name, 0) for name in ("cpu", "memory"))
             for i, a in enumerate(causes) for b in [Cause("", {}), *causes[:i]]}  # fmt: skip
    for _ in range(20):
        difference = {"cpu": rng.randint(-60, 60), "memory": rng.randint(-60, 60)}
        if explained(difference, causes):
            assert (difference["cpu"], difference["memory"]) in naive


MEMBERS = ({"cpu": "1", "memory": "1Gi"}, {"cpu": "2"})
ASSIGNED = [{"clusterName": "m1", "hard": {"cpu": "5"}}, {"clusterName": "m2", "hard": {"cpu": "5"}}]
ENFORCEMENT = [
    ("the sum of the members", quota({"cpu": "3", "memory": "1Gi"}, *MEMBERS, staticAssignments=ASSIGNED),
     ["cpu: status says 3, the sum of the members' quotas; bindings add up to 7",
      "memory: status says 1 GiB, the sum of the members' quotas; bindings add up to 7 GiB"]),
    ("no members", quota(None),
     ["the status says nothing of what is used, bindings add up to cpu 7, memory 7 GiB"]),
    ("right, though off",
     quota({"cpu": "7", "memory": "7Gi"}, {"cpu": "7", "memory": "7Gi"}, staticAssignments=ASSIGNED), []),
    ("not the sum of the members", quota({"cpu": "4", "memory": "1Gi"}, *MEMBERS, staticAssignments=ASSIGNED), []),
]  # fmt: skip


@pytest.mark.parametrize(("name", "given", "said"), ENFORCEMENT, ids=[case[0] for case in ENFORCEMENT])
def test_a_status_that_is_written_without_enforcement_is_known(name: str, given: Quota, said: list[str]) -> None:
    report = audit(LARGE, quotas=(given,))
    assert evidence(report, "enforcement-off") == said
    if said:
        members = [found for found in report.findings if found.code == "reported-wrong"]
        assert all("in cluster" in found.object and "pods that are there" in found.advice for found in members)
        advice = next(found.advice for found in report.findings if found.code == "enforcement-off")
        assert "FederatedQuotaEnforcement" in advice


def test_a_quota_that_karmada_has_not_looked_at_is_no_finding() -> None:
    assert audit(LARGE, quotas=(read_quota(federated(OVERALL)),)).findings == []


def test_assignments_beyond_overall_are_findings() -> None:
    hard = [{"clusterName": "m1", "hard": {"cpu": "60", "x.io/gpu": "1"}}, {"clusterName": "m2", "hard": {"cpu": "50"}}]
    report = audit(quotas=(read_quota(federated(OVERALL, staticAssignments=hard)),))
    assert evidence(report, "assignments-above-overall") == ["cpu: assignments add up to 110, spec.overall is 100"]
    assert evidence(report, "assignment-not-overall") == ["x.io/gpu is assigned to m1, spec.overall does not name it"]


def test_scheduled_components_that_differ_from_the_wanted_are_a_finding() -> None:
    got = {"name": "m1", "components": [{"name": "main", "replicas": 1}, {"name": "gone", "replicas": 2}]}
    report = audit(binding("job", components=pods(3), clusters=(got,)))
    assert evidence(report, "scheduled-differs") == ["cluster m1 was scheduled gone 2 of 0, main 1 of 3"]


def test_suspended_evicting_and_rescheduling_bindings_are_counted_apart() -> None:
    now, before = "2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z"
    bindings = [
        binding("s1", components=pods(1), clusters=("m1",), suspension={"scheduling": True}),
        binding("s2", components=pods(1), clusters=("m1",),
                suspension={"dispatchingOnClusters": {"clusterNames": ["m1"]}}),
        binding("free", components=pods(1), clusters=("m1",), suspension={"dispatching": False}),
        EVICTED,
        binding("again", components=pods(5), clusters=("m1",), rescheduleTriggeredAt=now) | {
            "status": {"lastScheduledTime": before}},
        binding("done", components=pods(5), clusters=("m1",), rescheduleTriggeredAt=before) | {
            "status": {"lastScheduledTime": now}},
    ]  # fmt: skip
    report = audit(*bindings)
    states = {line.state: (line.bindings, line.amounts["cpu"]) for line in report.namespaces[0].states}
    assert states == {"suspended": (2, "2"), "evicting": (1, "6"), "rescheduling": (1, "5")}
    for render in RENDERERS.values():
        assert "evicting" in render(report)


def test_replicas_that_are_evicted_count_as_the_task_says() -> None:
    legacy = binding(
        replicas=5, replicaRequirements={"resourceRequest": {"cpu": "2"}}, clusters=({"name": "m1", "replicas": 2},),
        gracefulEvictionTasks=[{"fromCluster": "m2", "replicas": 3}],
    )  # fmt: skip
    (state,) = audit(legacy).namespaces[0].states
    assert (state.state, state.amounts["cpu"]) == ("evicting", "6")


def test_parts_and_sums_are_untouched_by_what_is_read_beside_them() -> None:
    """A charge keeps the demand alone, whatever else a binding's clusters say."""
    got = {"name": "m1", "components": [{"name": "main", "replicas": 1}]}
    spec = decoder.decode(json.dumps(binding("job", components=pods(3), clusters=(got,)))).spec
    assert spec.plain.parts == [Part("main", 3, PodRequest({"cpu": "1", "memory": "1Gi"}))]
    assert [type(target).__name__ for target in spec.plain.targets] == ["Target"]
