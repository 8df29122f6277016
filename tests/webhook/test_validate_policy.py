"""POST /validate-policy over real HTTPS: what Karmada refuses is denied, what it will not do as meant is warned of."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.webhook.server import SCRIPTS, Client, Server

FLINK = [{"apiVersion": "flink.apache.org/v1beta1", "kind": "FlinkDeployment"}]
WEB = [{"apiVersion": "apps/v1", "kind": "Deployment"}]


def review(
    placement: Any, selectors: Any = None, operation: str = "CREATE", kind: str = "PropagationPolicy"
) -> dict[str, Any]:
    policy = {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": kind,
        "metadata": {"name": "p", "namespace": "default"},
        "spec": {"resourceSelectors": selectors or WEB, "placement": placement},
    }
    asked = {"uid": "u", "operation": operation, "object": policy,
             "kind": {"group": "policy.karmada.io", "version": "v1alpha1", "kind": kind}}  # fmt: skip
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": asked}


@pytest.fixture(scope="module")
def judging(certs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    file = tmp_path_factory.mktemp("members") / "clusters.yaml"
    cluster = {"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "metadata": {"name": "member1"}}
    file.write_text(yaml.safe_dump(cluster))
    flags = ["--scripts", str(SCRIPTS), "--bundled-language", "none", "--workers", "1", "--member-clusters", str(file)]
    with Server(certs, *flags) as server:
        client = Client(server.port, certs / "ca.crt")
        yield client
        client.close()


GROUPS = [
    {"affinityName": "local", "clusterNames": ["member1"]},
    {"affinityName": "cloud", "clusterNames": ["member9"]},
]
TWICE = [{"affinityName": "same", "clusterNames": ["member1"]}] * 2
POLICIES = [  # placement, selectors, allowed, part of the denial, part of a warning
    ({"clusterAffinity": {"clusterNames": ["member1"]}}, WEB, True, "", ""),
    ({"clusterAffinity": {}, "clusterAffinities": GROUPS}, WEB, False, "exclude each other", ""),
    ({"clusterAffinities": TWICE}, WEB, False, "spec.placement.clusterAffinities", ""),
    ({"clusterAffinities": GROUPS}, WEB, True, "", "no cluster of 1 matches group 'cloud'"),
    ({"clusterAffinity": {"clusterNames": ["member1"]}}, FLINK, True, "", "is not bound to one cluster"),
    (7, WEB, False, "spec.placement", ""),
]


@pytest.mark.parametrize(("placement", "selectors", "allowed", "denial", "warning"), POLICIES)
@pytest.mark.parametrize("kind", ["PropagationPolicy", "ClusterPropagationPolicy"])
def test_policies_are_judged_by_the_rules_of_their_placement(
    judging: Client, kind: str, placement: Any, selectors: Any, allowed: bool, denial: str, warning: str
) -> None:
    status, answer = judging.post(review(placement, selectors, kind=kind), "/validate-policy?timeout=5s")
    assert status == 200, answer
    response = answer["response"]
    assert (response["uid"], response["allowed"]) == ("u", allowed), response
    assert denial in response.get("status", {}).get("message", "")
    assert any(warning in one for one in response.get("warnings", [""]))


def test_deletions_and_other_kinds_pass(judging: Client) -> None:
    for asked in (review(7, operation="DELETE"), review(7, kind="OverridePolicy")):
        assert judging.post(asked, "/validate-policy")[1]["response"]["allowed"]


@pytest.mark.parametrize("body", [{}, {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}])
def test_what_is_no_review_is_refused(judging: Client, body: dict[str, Any]) -> None:
    assert judging.post(body, "/validate-policy")[0] == 400
