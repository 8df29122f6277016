"""Which of several policies a workload follows, and with which priority it is scheduled."""

from __future__ import annotations

from typing import Any

import pytest

from estimator.placement.checks import check_policy
from estimator.placement.matching import best_policy, policy_name
from estimator.placement.priority import Priority, priority_of, read_classes
from interpreters.core.errors import InputError
from interpreters.core.karmada.releases import KARMADA_1_18, KARMADA_1_19, Release

WEB = {"apiVersion": "apps/v1", "kind": "Deployment",
       "metadata": {"name": "web", "namespace": "shop", "labels": {"app": "web"}}}  # fmt: skip
ANY = {"apiVersion": "apps/v1", "kind": "Deployment"}
NAMED = {**ANY, "name": "web"}
LABELLED = {**ANY, "labelSelector": {"matchLabels": {"app": "web"}}}


def policy(name: str, selector: dict[str, Any], *, priority: int = 0, general: bool = False, **spec: Any) -> Any:
    kind = "ClusterPropagationPolicy" if general else "PropagationPolicy"
    metadata = {"name": name} if general else {"name": name, "namespace": "shop"}
    body = {"resourceSelectors": [selector], "priority": priority, **spec}
    return {"apiVersion": "policy.karmada.io/v1alpha1", "kind": kind, "metadata": metadata, "spec": body}


@pytest.mark.parametrize(
    ("policies", "expected"),
    [
        ([policy("b", ANY), policy("a", ANY)], "PropagationPolicy shop/a"),
        ([policy("a", ANY), policy("b", LABELLED)], "PropagationPolicy shop/b"),
        ([policy("a", LABELLED), policy("b", NAMED)], "PropagationPolicy shop/b"),
        ([policy("a", NAMED), policy("b", ANY, priority=1)], "PropagationPolicy shop/b"),
        ([policy("a", NAMED, priority=9, general=True), policy("b", ANY)], "PropagationPolicy shop/b"),
        ([policy("a", NAMED, general=True), policy("b", {**ANY, "name": "other"})], "ClusterPropagationPolicy a"),
        ([policy("a", {**ANY, "kind": "StatefulSet"})], None),
    ],
    ids=["by name", "labels", "named", "priority", "namespace first", "general", "none"],
)
def test_the_policy_that_karmada_follows(policies: list[Any], expected: str | None) -> None:
    found = best_policy(policies, WEB)
    assert (policy_name(found) if found else None) == expected


def wish(source: str, name: str) -> dict[str, Any]:
    return {"schedulePriority": {"priorityClassSource": source, "priorityClassName": name}}


CLASSES = read_classes([{"kind": "PriorityClass", "metadata": {"name": "high"}, "value": 7}])


@pytest.mark.parametrize(
    ("spec", "release", "expected"),
    [
        ({}, KARMADA_1_19, Priority()),
        (wish("KubePriorityClass", "high"), KARMADA_1_19, Priority(7, True)),
        (wish("KubePriorityClass", "high"), KARMADA_1_18, Priority()),
        (wish("KubePriorityClass", "system-node-critical"), KARMADA_1_19, Priority(2_000_001_000, True)),
        (wish("KubePriorityClass", "low"), KARMADA_1_19,
         Priority(problem='spec.schedulePriority: no PriorityClass "low" was given; 0 is assumed')),
        (wish("PodPriorityClass", "high"), KARMADA_1_19,
         Priority(problem="spec.schedulePriority: Karmada resolves KubePriorityClass only, not PodPriorityClass")),
    ],
)  # fmt: skip
def test_a_policy_names_a_priority_class(spec: dict[str, Any], release: Release, expected: Priority) -> None:
    assert priority_of(policy("a", ANY, **spec), CLASSES, release) == expected


def test_what_is_no_priority_class_is_refused() -> None:
    with pytest.raises(InputError, match="expected PriorityClasses of scheduling.k8s.io/v1, got Pod"):
        read_classes([{"kind": "Pod"}])
    with pytest.raises(InputError, match="PriorityClass x: value: expected a whole number, got 'high'"):
        read_classes([{"kind": "PriorityClass", "metadata": {"name": "x"}, "value": "high"}])


def failover(part: str, mode: str) -> dict[str, Any]:
    return {"failover": {part: {"purgeMode": mode}}}


@pytest.mark.parametrize(
    ("spec", "release", "expected"),
    [
        (failover("application", "Never"), KARMADA_1_19, []),
        (failover("application", "Immediately"), KARMADA_1_19,
         [("error", "purge-mode", "Karmada 1.19 does not know 'Immediately': write Directly")]),
        (failover("application", "Graciously"), KARMADA_1_18,
         [("warning", "purge-mode", "'Graciously' is gone in Karmada 1.19: write Gracefully")]),
        (failover("application", "Soon"), KARMADA_1_18,
         [("error", "purge-mode", "Karmada 1.18 does not know 'Soon': expected one of Directly, Gracefully, Never, "
           "Immediately, Graciously")]),
        (failover("cluster", "Directly"), KARMADA_1_19, []),
        (failover("cluster", "Never"), KARMADA_1_18,
         [("error", "purge-mode", "Karmada 1.18 does not know 'Never': expected one of Directly, Gracefully")]),
        (wish("KubePriorityClass", "high"), KARMADA_1_19, []),
        (wish("KubePriorityClass", "high"), KARMADA_1_18,
         [("information", "schedule-priority",
           "heeded only with the feature gate PriorityBasedScheduling, which is off by default in 1.18")]),
        (wish("PodPriorityClass", "high"), KARMADA_1_19,
         [("error", "schedule-priority",
           "'PodPriorityClass': Karmada resolves KubePriorityClass only and leaves the workload without a binding")]),
        ({"placement": {"workloadAffinity": {"affinity": {"groupByLabelKey": "app"}}}}, KARMADA_1_19,
         [("information", "workload-affinity",
           "heeded only with the feature gate WorkloadAffinity, which is off by default")]),
    ],
)  # fmt: skip
def test_what_a_release_does_not_take_is_found(spec: dict[str, Any], release: Release, expected: list[Any]) -> None:
    found = check_policy(policy("a", ANY, **spec), release=release)
    assert [(one.level, one.rule, one.message) for one in found] == expected
