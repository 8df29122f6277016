"""Placements are judged and clusters matched as Karmada does."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from estimator.placement.affinity import matches
from estimator.placement.policy import read_cluster, read_placement
from estimator.placement.validation import violations
from tests.conformance.vectors import cases


@pytest.mark.parametrize("case", cases("placement-validation"))
def test_a_placement_breaks_the_rules_that_karmada_says_it_breaks(case: dict[str, Any]) -> None:
    found = violations(read_placement(case["placement"]))
    assert Counter(v.field for v in found) == Counter(error["field"] for error in case["errors"] or ())
    assert all(violation.detail for violation in found)


@pytest.mark.parametrize("case", cases("cluster-affinity"))
def test_a_cluster_matches_an_affinity_when_karmada_says_so(case: dict[str, Any]) -> None:
    placement = read_placement({"clusterAffinity": case["clusterAffinity"]})
    assert placement.cluster_affinity is not None
    assert matches(read_cluster(case["cluster"]), placement.cluster_affinity) is case["matches"]
