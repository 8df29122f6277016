"""`interp doctor --kubeconfig`: what Karmada has registered, against what is served and what the rules allow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interp.registration_check import check_registration
from tests.webhook.api_server import ApiServer, api_server

CONFIGURATIONS = "/apis/config.karmada.io/v1alpha1/resourceinterpreterwebhookconfigurations"
CUSTOMIZATIONS = "/apis/config.karmada.io/v1alpha1/resourceinterpretercustomizations"
URL = "https://interp.example:8443/interpret"


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Iterator[Path]:
    with api_server(tmp_path) as file:
        yield file


def registered(kind: str, *operations: str, url: str = URL) -> dict[str, Any]:
    group, version, name = kind.split("/")
    rule = {"apiGroups": [group], "apiVersions": [version], "kinds": [name], "operations": list(operations)}
    return {"items": [{"webhooks": [{"clientConfig": {"url": url}, "rules": [rule]}]}]}


CLONESET, TFJOB = "apps.kruise.io/v1alpha1/CloneSet", "kubeflow.org/v1/TFJob"
FOUND = [  # what is registered, the level and part of the first finding
    (registered(TFJOB, "InterpretComponent"), "ok", "1 operations of 1 kinds, all served and none against the rules"),
    (registered(CLONESET, "InterpretReplica", "ReviseReplica"), "ok", "2 operations of 1 kinds"),
    (
        registered(CLONESET, "InterpretComponent"),
        "error",
        "CloneSet: InterpretComponent must not be registered: the kind",
    ),
    (registered(TFJOB, "InterpretReplica", "ReviseReplica"), "ok", "2 operations"),  # as --count registers it
    (registered(TFJOB, "InterpretReplica"), "error", "a Divided policy would share it out"),
    (registered("stage.example.org/v1/Act", "InterpretHealth"), "error", "no script answers; Karmada's call fails"),
    (registered(TFJOB, "Retain"), "error", "Retain registered, but no script answers"),
    (registered(TFJOB, "InterpretComponent", url="https://other:1"), "error", "does not call interp.example:8443; reg"),
    ({"items": []}, "error", "Karmada does not call interp.example:8443"),
]


@pytest.mark.parametrize(("configurations", "level", "said"), FOUND)
def test_what_is_registered_is_judged(kubeconfig: Path, configurations: Any, level: str, said: str) -> None:
    ApiServer.held[CONFIGURATIONS] = configurations
    first = check_registration(URL, kubeconfig, "", [], "lua")[0]
    assert first.level == level
    assert said in first.message
    assert bool(first.fix) is (level == "error")


def test_a_customization_that_answers_first_is_named(kubeconfig: Path) -> None:
    ApiServer.held[CONFIGURATIONS] = registered(TFJOB, "InterpretComponent")
    target = {"apiVersion": "kubeflow.org/v1", "kind": "TFJob"}
    rules = {"componentResource": {"luaScript": "x"}}
    ApiServer.held[CUSTOMIZATIONS] = {"items": [{"spec": {"target": target, "customizations": rules}}]}
    messages = [one.message for one in check_registration(URL, kubeconfig, "", [], "lua") if one.level == "warning"]
    assert len(messages) == 1
    assert "a ResourceInterpreterCustomization answers InterpretComponent before interp is asked" in messages[0]


def test_an_api_server_that_cannot_be_read_is_a_finding(kubeconfig: Path) -> None:
    kubeconfig.write_text(kubeconfig.read_text().replace("127.0.0.1:", "127.0.0.1:1"))
    [finding] = check_registration(URL, kubeconfig, "", [], "lua")
    assert finding.level == "error"
