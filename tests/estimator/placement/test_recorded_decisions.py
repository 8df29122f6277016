"""Decisions of Karmada 1.18's own scheduler core, recorded: the same clusters, the same replicas, the same failures.

Each case holds a placement, the clusters with what is free and held, and the targets (null: it did not schedule).
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from estimator.placement.decision import Target
from estimator.placement.scheduling import Past, decide
from tests.estimator.placement.fleet import cluster, question

CASES = json.loads((Path(__file__).parent / "karmada-decisions.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_a_decision_is_karmadas(case: dict[str, Any]) -> None:
    members = case["members"]
    fleet = [cluster(one["name"], region=one["region"]) for one in members]
    free = {one["name"]: one["free"] for one in members}
    asked = question(case["placement"], fleet, free, case["replicas"], case["sets"])
    asked = replace(asked, rounding="webster", demand=replace(asked.demand, uid=case["uid"]))
    held = [Target(one["name"], one["held"]) for one in members if "held" in one]
    found = decide(asked, Past(case["observed"], held))
    targets = {target.name: target.replicas or 0 for target in found.clusters} if found.scheduled else None
    assert targets == case["targets"]
