"""The scale subresource of what goes whole: growth that no quota could weigh is refused where a quota holds."""

from __future__ import annotations

from typing import Any

import pytest

from interpreters.catalog import Catalog
from interpreters.core.kinds import GroupVersionKind
from interpreters.interpretation import load_functions
from interpreters.sandbox.runner import SandboxRunner
from interpreters.scan import scan
from tests.webhook.server import Client
from tests.webhook.test_admit import admitting, decide, review
from webhook.endpoints.admission.scaling import goes_whole

__all__ = ["admitting"]  # a fixture


def scaling(old: int | None, new: int, **more: Any) -> dict[str, Any]:
    asked = review("one", "1", "UPDATE")
    asked["request"] |= {
        "kind": {"group": "autoscaling", "version": "v1", "kind": "Scale"},
        "subResource": "scale",
        "object": {"metadata": {"name": "one", "namespace": "default", "uid": "u"}, "spec": {"replicas": new}},
        "oldObject": {"metadata": {"name": "one", "namespace": "default"}, "spec": {"replicas": old} if old else {}},
        **more,
    }
    return asked


DECISIONS = [  # the request, whether it passes
    (scaling(1, 2), False),
    (scaling(None, 1), False),
    (scaling(2, 2), True),
    (scaling(2, 1), True),
    (scaling(1, 2, namespace="free", object={"metadata": {"namespace": "free"}, "spec": {"replicas": 2}}), True),
    (scaling(1, 2, resource={"group": "stage.example.org", "version": "v1", "resource": "curtains"}), True),
    (scaling(1, 2, resource={"group": "apps", "version": "v1", "resource": "deployments"}), True),
    (scaling(1, 2, subResource="status"), True),
]


@pytest.mark.parametrize(("asked", "passes"), DECISIONS, ids=range(len(DECISIONS)))
def test_only_growth_where_a_quota_holds_is_refused(admitting: Client, asked: dict[str, Any], passes: bool) -> None:
    answer = decide(admitting, asked)
    assert (answer["allowed"], "warnings" in answer) == (passes, False)


def test_a_refusal_says_what_to_do_instead(admitting: Client) -> None:
    status = decide(admitting, scaling(1, 9))["status"]
    assert (status["code"], status["reason"]) == (403, "Forbidden")
    assert "scaled from 1 to 9 by its scale subresource" in status["message"]
    assert status["message"].endswith("change the number in the object itself")


def test_what_is_no_scale_is_a_bad_request(admitting: Client) -> None:
    status, problem = admitting.post(scaling(1, 2, object={"spec": {"replicas": "many"}}), "/admit")
    assert (status, "request.object" in problem["message"]) == (400, True)


def test_an_object_that_cannot_be_weighed_passes_where_no_quota_holds(admitting: Client) -> None:
    asked = review("one", "many", namespace="free")
    asked["request"]["object"]["metadata"]["namespace"] = "free"
    answer = decide(admitting, asked)
    assert answer["allowed"] is True
    assert "many" in " ".join(answer["warnings"])


BUNDLED = [  # a kind, whether it goes whole
    ("kubeflow.org/v1", "PyTorchJob", True),
    ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", True),
    ("apps.kruise.io/v1alpha1", "CloneSet", False),
    ("apps/v1", "Deployment", False),
    ("example.org/v1", "Unknown", False),
]


def test_which_bundled_kinds_go_whole() -> None:
    with SandboxRunner() as runner:
        found = scan()
        catalog = Catalog.build(found, load_functions(runner, found))
    assert [goes_whole(catalog, GroupVersionKind.parse(api, kind)) for api, kind, _ in BUNDLED] == [
        whole for *_, whole in BUNDLED
    ]
