"""One table for all who read a quota: estimates, admission and the audit count the same pods at the same amounts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from estimator.accounting.admission.decide import Gate, Interpretation
from estimator.accounting.audit.assembly import build_report
from estimator.accounting.audit.totals import Tally
from estimator.accounting.demand import binding_decoder
from estimator.accounting.ledger.ledger import Ledger
from estimator.accounting.sources.quota_files import GivenQuotas
from estimator.fit.estimation import estimate_sets
from estimator.fit.model import NO_LIMIT
from estimator.fit.plugins import ResourceQuota
from estimator.quotas.objects import read_quota
from interpreters.core.interpreted import Interpreted
from interpreters.core.quantity import ZERO, Quantity
from tests.estimator.accounting.samples import binding, request
from tests.estimator.fit.worlds import cluster, component, quota

BEST_EFFORT, NOT_BEST_EFFORT = {"scopes": ["BestEffort"]}, {"scopes": ["NotBestEffort"]}


def priority(operator: str, *values: str) -> dict[str, Any]:
    expression = {"scopeName": "PriorityClass", "operator": operator, "values": list(values)}
    return {"scopeSelector": {"matchExpressions": [expression]}}


GPU = {"nvidia.com/gpu": "1"}
ROWS: list[tuple[str, dict[str, Any], dict[str, str], str, str | None]] = [
    # key                                                scopes              a pod requests       class   it takes
    ("cpu", {}, {"cpu": "500m"}, "", "500m"),
    ("requests.cpu", {}, {"cpu": "500m"}, "", "500m"),
    ("memory", {}, {"memory": "1Gi"}, "", "1Gi"),
    ("requests.ephemeral-storage", {}, {"ephemeral-storage": "1Gi"}, "", "1Gi"),
    ("hugepages-2Mi", {}, {"cpu": "1", "hugepages-2Mi": "4Mi"}, "", "4Mi"),
    ("requests.nvidia.com/gpu", {}, GPU, "", "1"),
    ("pods", {}, {"cpu": "1"}, "", "1"),
    ("count/pods", {}, {}, "", "1"),
    ("limits.cpu", {}, {"cpu": "1"}, "", None),
    ("requests.storage", {}, {"cpu": "1"}, "", None),
    ("gold.storageclass.storage.k8s.io/requests.storage", {}, {"cpu": "1"}, "", None),
    ("attachable-volumes-aws-ebs", {}, {"cpu": "1", "attachable-volumes-aws-ebs": "1"}, "", None),
    ("services", {}, {"cpu": "1"}, "", None),
    ("pods", BEST_EFFORT, {}, "", "1"),
    ("pods", BEST_EFFORT, GPU, "", "1"),
    ("pods", BEST_EFFORT, {"cpu": "0"}, "", "1"),
    ("pods", BEST_EFFORT, {"cpu": "1m"}, "", None),
    ("pods", BEST_EFFORT, {"memory": "1"}, "", None),
    ("pods", NOT_BEST_EFFORT, {"memory": "1Mi"}, "", "1"),
    ("pods", NOT_BEST_EFFORT, GPU, "", None),
    ("cpu", NOT_BEST_EFFORT, {"cpu": "1"}, "", "1"),
    ("cpu", priority("In", "high", "top"), {"cpu": "1"}, "high", "1"),
    ("cpu", priority("In", "high", "top"), {"cpu": "1"}, "low", None),
    ("cpu", priority("NotIn", "high"), {"cpu": "1"}, "", "1"),
    ("cpu", priority("Exists"), {"cpu": "1"}, "", None),
    ("cpu", priority("DoesNotExist"), {"cpu": "1"}, "", "1"),
    ("pods", {**BEST_EFFORT, **priority("In", "high")}, {}, "high", "1"),
    ("pods", {**BEST_EFFORT, **priority("In", "high")}, {}, "", None),
    ("cpu", {"scopes": ["VolumeAttributesClass"]}, {"cpu": "1"}, "", None),
    ("cpu", {"scopes": ["Terminating"]}, {"cpu": "1"}, "", None),
    ("cpu", priority("Near", "high"), {"cpu": "1"}, "high", None),
]
IDS = [f"{key} {scopes or ''} {requests} {name}" for key, scopes, requests, name, _ in ROWS]
FITTING = 10


@pytest.mark.parametrize(("key", "scopes", "requests", "name", "takes"), ROWS, ids=IDS)
async def test_everybody_counts_the_same(
    key: str, scopes: dict[str, Any], requests: dict[str, str], name: str, takes: str | None, tmp_path: Path
) -> None:
    hard = {key: str(Quantity.parse(takes) * FITTING) if takes else "0"}
    given = quota("q", hard, **scopes)
    read = read_quota(given)

    one = component("a", 1, priority=name, **requests)
    sets = estimate_sets(cluster(given), [one], "default", plugins=[ResourceQuota()])
    assert sets.count == (FITTING if takes else NO_LIMIT)

    def job(pods: int) -> Interpretation:
        return Interpretation(Interpreted(components=(component("a", pods, priority=name, **requests),)))

    async with Ledger(f"sqlite:///{tmp_path / 'ledger.db'}") as ledger:
        gate = Gate(ledger, GivenQuotas([read]))
        first = await gate.decide(request(name="first", namespace="default"), job(FITTING))
        more = await gate.decide(request(name="second", namespace="default"), job(1))
    assert (first.allowed, more.allowed) == (True, takes is None)

    tally = Tally()
    spec = {"components": msgspec.to_builtins([component("a", FITTING, priority=name, **requests)])}
    bound = binding("job", "default", ("m1",), **spec)
    tally.add(binding_decoder.decode(msgspec.json.encode(bound)))
    [line] = build_report(tally, [read]).namespaces[0].quotas[0].lines
    counted = None if line.used is None else Quantity.parse(line.used)
    assert counted in ((Quantity.parse(hard[key]),) if takes else (None, ZERO))
