"""Every case of every bundled kind, and what must hold for all of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from interpreters.cases import Case
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import OPERATIONS
from interpreters.sandbox.runner import SandboxRunner
from interpreters.suites import bundled_suites, run_suite
from tests.interpreters.scripts.bundled import ask, cases, operations, scripts

KINDS = sorted(scripts())
MANY_COMPONENTS = {
    "FlinkDeployment", "RayCluster", "RayJob", "RayService", "SparkApplication", "ScheduledSparkApplication",
    "PyTorchJob", "TFJob", "MPIJob", "XGBoostJob", "PaddleJob", "JAXJob", "MXJob", "TrainJob", "JobSet",
    "LeaderWorkerSet", "UnitedDeployment",
}  # fmt: skip
KARMADA_ANSWERS = {  # the functions that Karmada's own scripts or code have for a kind
    "FlinkDeployment": "GetComponents GetReplicas InterpretHealth AggregateStatus ReflectStatus",
    "RayCluster": "GetComponents InterpretHealth AggregateStatus",
    "RayJob": "GetComponents InterpretHealth AggregateStatus GetDependencies",
    "RayService": "GetReplicas ReviseReplica InterpretHealth AggregateStatus GetDependencies",
    "SparkApplication": "GetComponents InterpretHealth AggregateStatus ReflectStatus",
    "PyTorchJob": "GetComponents InterpretHealth AggregateStatus GetDependencies",
    "TFJob": "GetComponents InterpretHealth AggregateStatus GetDependencies",
    "MPIJob": "GetComponents InterpretHealth AggregateStatus ReflectStatus",
    "Workflow": "GetReplicas ReviseReplica InterpretHealth Retain GetDependencies",
    "CloneSet": "GetReplicas ReviseReplica AggregateStatus ReflectStatus InterpretHealth GetDependencies",
    "UnitedDeployment": "GetReplicas ReviseReplica AggregateStatus ReflectStatus InterpretHealth GetDependencies",
    "BroadcastJob": "GetReplicas ReviseReplica InterpretHealth AggregateStatus Retain ReflectStatus GetDependencies",
    "Deployment": "GetReplicas ReviseReplica Retain AggregateStatus ReflectStatus InterpretHealth GetDependencies",
    "StatefulSet": "GetReplicas ReviseReplica AggregateStatus ReflectStatus InterpretHealth GetDependencies",
    "ReplicaSet": "GetReplicas ReviseReplica AggregateStatus ReflectStatus InterpretHealth GetDependencies",
    "Job": "GetReplicas AggregateStatus ReflectStatus GetDependencies",
    "CronJob": "AggregateStatus GetDependencies",
    "Pod": "GetReplicas Retain AggregateStatus InterpretHealth GetDependencies",
}


def component_cases() -> Iterator[tuple[GroupVersionKind, Case]]:
    for kind in KINDS:
        for case in cases(kind):
            if case.want and "components" in case.want and not case.partial:
                yield kind, case


def test_every_case_of_every_kind_holds() -> None:
    with SandboxRunner() as runner:
        for suite in bundled_suites(runner):
            failures = [result for result in run_suite(runner, suite) if result.reasons]
            assert not suite.problems
            assert not [(failure.case.name, failure.reasons) for failure in failures], suite.name


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_every_operation_of_a_kind_has_a_case(kind: GroupVersionKind) -> None:
    offered = {operation for operation in OPERATIONS if operation.function in operations(kind)}
    assert offered == {case.operation for case in cases(kind)}
    assert len(cases(kind)) >= 8


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.kind in MANY_COMPONENTS], ids=str)
def test_kinds_of_many_components_have_many_objects(kind: GroupVersionKind) -> None:
    asked_for_pods = [case for case in cases(kind) if case.operation.name in ("InterpretComponent", "InterpretReplica")]
    assert len(asked_for_pods) >= 7


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.kind in KARMADA_ANSWERS], ids=str)
def test_no_operation_is_missing_that_karmada_has(kind: GroupVersionKind) -> None:
    assert set(KARMADA_ANSWERS[kind.kind].split()) <= operations(kind)


def test_component_names_are_unique_and_fit_the_api() -> None:
    for kind, case in component_cases():
        names = [component["name"] for component in ask(kind, "GetComponents", case.object) or []]
        assert len(set(names)) == len(names), case.name
        assert all(1 <= len(name) <= 32 for name in names), case.name


def test_the_view_of_equal_pods_has_all_pods_of_the_components() -> None:
    for kind, case in component_cases():
        components = ask(kind, "GetComponents", case.object) or []
        assert ask(kind, "GetReplicas", case.object) == sum(component["replicas"] for component in components)
