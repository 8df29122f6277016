"""How long an audit takes: 10 000, 100 000 and 1 000 000 bindings as `kubectl get -o json` dumps them."""

from __future__ import annotations

import json
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

Row = tuple[str, float, str, float | None]

BUDGET_SECONDS = 60.0
BUDGET_MIB = 400.0


def run() -> Iterable[Row]:
    """Rows of (what, value, unit, budget)."""
    for count in (10_000, 100_000, 1_000_000):
        with tempfile.TemporaryDirectory() as folder:
            dump = Path(folder) / "bindings.json"
            write_dump(dump, count)
            seconds, mebibytes = audit(dump, count)
        is_budgeted = count == 1_000_000
        yield f"audit of {count:,} bindings", seconds, "s", BUDGET_SECONDS if is_budgeted else None
        yield f"memory of that audit's main process, {count:,}", mebibytes, "MiB", BUDGET_MIB if is_budgeted else None


def audit(dump: Path, count: int) -> tuple[float, float]:
    """In a process of its own: the most that this one ever held says nothing of an audit."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context) as process:
        return process.submit(_audit, dump, count).result()


def _audit(dump: Path, count: int) -> tuple[float, float]:
    from estimator.accounting.audit.assembly import build_report
    from estimator.accounting.audit.read_bindings import read_bindings
    from estimator.accounting.audit.rendering import RENDERERS
    from estimator.accounting.audit.totals import Tally

    started = time.perf_counter()
    intake = read_bindings([dump], Tally())
    RENDERERS["text"](build_report(intake.tally, []))
    seconds = time.perf_counter() - started
    if intake.tally.bindings != count:
        sys.exit(f"the audit saw {intake.tally.bindings} of {count} bindings")
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def write_dump(path: Path, count: int) -> None:
    """A dump as kubectl indents it, two components each, spread over 200 namespaces and 3 clusters."""
    template = "\n".join(f"        {line}" for line in json.dumps(_binding(), indent=4).splitlines())
    with path.open("w") as file:
        file.write('{\n    "apiVersion": "v1",\n    "items": [\n')
        for number in range(count):
            text = template.replace("@namespace", f"team-{number % 200}").replace("@name", f"job-{number}")
            text = text.replace("@cpu", f"{number % 40 + 1}00m").replace("@cluster", f"member{number % 3}")
            file.write(text + (",\n" if number < count - 1 else "\n"))
        file.write('    ],\n    "kind": "List",\n    "metadata": {\n        "resourceVersion": ""\n    }\n}\n')


def _binding() -> dict[str, object]:
    reference = {"apiVersion": "flink.apache.org/v1beta1", "kind": "FlinkDeployment", "name": "@name"}
    placement = {
        "clusterAffinity": {"clusterNames": ["member0", "member1", "member2"]},
        "clusterTolerations": [
            {"effect": "NoExecute", "key": f"cluster.karmada.io/{key}", "operator": "Exists", "tolerationSeconds": 300}
            for key in ("not-ready", "unreachable")
        ],
        "replicaScheduling": {"replicaDivisionPreference": "Aggregated", "replicaSchedulingType": "Divided"},
        "spreadConstraints": [{"maxGroups": 1, "minGroups": 1, "spreadByField": "cluster"}],
    }
    return {
        "apiVersion": "work.karmada.io/v1alpha2",
        "kind": "ResourceBinding",
        "metadata": {
            "annotations": {"policy.karmada.io/applied-placement": json.dumps(placement)},
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "finalizers": ["karmada.io/binding-controller"],
            "generation": 2,
            "labels": {"resourcebinding.karmada.io/permanent-id": "f4b0f0a2-6f9c-4f0e-9d6f-2c8f6d9f0a11"},
            "name": "@name-flinkdeployment",
            "namespace": "@namespace",
            "ownerReferences": [{**reference, "controller": True, "uid": "9a1b0f6e-1d0f-4a38-8f5e-6d0c3e3b9f0a"}],
            "resourceVersion": "123456",
            "uid": "0f8fad5b-d9cb-469f-a165-70867728950e",
        },
        "spec": {
            "clusters": [{"name": "@cluster"}],
            "components": [
                {"name": "jobmanager", "replicas": 1,
                 "replicaRequirements": {"resourceRequest": {"cpu": "1", "memory": "2Gi"}}},
                {"name": "taskmanager", "replicas": 3,
                 "replicaRequirements": {"resourceRequest": {"cpu": "@cpu", "memory": "4Gi"}}},
            ],
            "conflictResolution": "Abort",
            "placement": placement,
            "resource": {**reference, "namespace": "@namespace", "resourceVersion": "123455"},
            "schedulerName": "default-scheduler",
        },
        "status": {
            "aggregatedStatus": [{"applied": True, "clusterName": "@cluster", "health": "Healthy"}],
            "conditions": [{"lastTransitionTime": "2026-01-01T00:00:00Z", "reason": "Success", "status": "True",
                            "message": "Binding has been scheduled successfully.", "type": "Scheduled"}],
            "schedulerObservedGeneration": 2,
        },
    }  # fmt: skip
